import { VERSION } from '../src/core/base/version.ts'

/**
 * The program a path starts: `crabup` when its file has that name, with or without an extension, else `crabtalk`.
 * `crabtalk.old`, which an update sets aside, is `crabup` for `self`, so that it can put itself back.
 */
export function programName(path = '', argv: readonly string[] = []): string {
  const isCrabup = /(^|[\\/])crabup(\.\w+)?$/i.test(path)
  const isOld = /(^|[\\/])crabtalk\.old(\.exe)?$/i.test(path)
  return isCrabup || (isOld && argv[0] === 'self') ? 'crabup' : 'crabtalk'
}

/** What a command line that asks for nothing but the version is answered; undefined for any other. */
export function versionLine(name: string, argv: readonly string[]): string | undefined {
  const asked = argv.length === 1 && ['--version', '-V', 'version'].includes(argv[0]!)
  return asked ? `${name} ${VERSION}\n` : undefined
}
