import { VERSION } from '../src/core/base/version.ts'

/**
 * Returns the program that a path starts: `crabup` when its file has that name, with or without an extension,
 * otherwise `crabtalk`. `crabtalk.old`, which an update sets aside, is `crabup` for `self`, so that it can
 * restore itself.
 */
export function programName(path = '', argv: readonly string[] = []): string {
  const isCrabup = /(^|[\\/])crabup(\.\w+)?$/i.test(path)
  const isOld = /(^|[\\/])crabtalk\.old(\.exe)?$/i.test(path)
  return isCrabup || (isOld && argv[0] === 'self') ? 'crabup' : 'crabtalk'
}

/** Returns the output for a command line that asks only for the version; undefined for any other. */
export function versionLine(name: string, argv: readonly string[]): string | undefined {
  const isVersionRequest = argv.length === 1 && ['--version', '-V', 'version'].includes(argv[0]!)
  return isVersionRequest ? `${name} ${VERSION}\n` : undefined
}
