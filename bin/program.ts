import { VERSION } from '../src/core/base/version.ts'

/** The program a path starts: `crabup` when its file has that name, with or without an extension, else `crabtalk`. */
export function programName(path = ''): string {
  return /(^|[\\/])crabup(\.\w+)?$/i.test(path) ? 'crabup' : 'crabtalk'
}

/** What a command line that asks for nothing but the version is answered; undefined for any other. */
export function versionLine(name: string, argv: readonly string[]): string | undefined {
  const asked = argv.length === 1 && ['--version', '-V', 'version'].includes(argv[0]!)
  return asked ? `${name} ${VERSION}\n` : undefined
}
