import { findReach } from './launchers.ts'

/**
 * Returns the command of crabtalk among those that a simple command may start which prints or changes credentials or
 * the user's trust, such as `crabtalk vault get`; undefined when there is none. No rule and no mode allows these.
 */
export function findCredentialCommand(words: readonly string[]): string | undefined {
  for (const command of findReach(words).commands) {
    const shown = describe(command)
    if (shown !== undefined) return shown
  }
  return undefined
}

/** Like findCredentialCommand(), for a line that cannot be split: looks for the words anywhere in its text. */
export function findCredentialText(line: string): string | undefined {
  const [, group, verb] = /crabtalk\b.*?\b(vault|mcp|trust)\b\s*([a-z-]*)/s.exec(line) ?? []
  return group === undefined ? undefined : describe(['crabtalk', group, verb ?? ''])
}

function describe([name = '', ...args]: readonly string[]): string | undefined {
  if (!/(?:^|[/\\])crabtalk(?:\.exe)?$/i.test(name)) return undefined
  const [group = '', verb = ''] = args.filter((word) => !word.startsWith('-'))
  if (group === 'trust') return args.includes('--list') ? undefined : 'crabtalk trust'
  const isGuarded = group === 'vault' ? !HARMLESS.has(verb) : group === 'mcp' && verb === 'token'
  return isGuarded ? `crabtalk ${group} ${verb}`.trimEnd() : undefined
}

/** The commands of the vault that show neither values nor change anything. */
const HARMLESS: ReadonlySet<string> = new Set(['list', 'status', 'explain'])
