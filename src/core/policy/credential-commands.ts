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

/**
 * Like findCredentialCommand(), for a line that cannot be split: looks for the program anywhere in its text, without
 * quotes and backslashes. The words behind it count up to the next character that may end a command.
 */
export function findCredentialText(line: string): string | undefined {
  const text = line.replaceAll(/\\\r?\n|["'\\]/g, '')
  for (const [, rest = ''] of text.matchAll(PROGRAM_TEXT)) {
    const words = rest.split(/\s+/).filter((word) => word !== '')
    const shown = describe(['crabtalk', ...words.map((word) => word.replace(/^([\w-]+)`$/, '$1'))])
    if (shown !== undefined) return shown
  }
  return undefined
}

/** Returns the command that the words of crabtalk are; undefined for a harmless one. A word that may be any counts as the worst. */
function describe([name = '', ...args]: readonly string[]): string | undefined {
  if (!/(?:^|[/\\])crabtalk(?:\.exe)?$/i.test(name)) return undefined
  const [group = '', verb = ''] = args.filter((word) => !word.startsWith('-'))
  if (!isLiteral(group)) return 'crabtalk'
  if (group === 'trust') return args[args.indexOf(group) + 1] === 'list' ? undefined : 'crabtalk trust'
  const isGuarded =
    group === 'vault' ? !HARMLESS.has(verb) : group === 'mcp' && (verb === 'token' || !isLiteral(verb))
  return isGuarded ? `crabtalk ${group} ${isLiteral(verb) ? verb : ''}`.trimEnd() : undefined
}

function isLiteral(word: string): boolean {
  return /^[\w.-]*$/.test(word)
}

/** The name of the program as a word of its own, and the text behind it. */
const PROGRAM_TEXT = /crabtalk(?:\.exe)?(?![\w./:=,@-])(?=([^\n;&|()]*))/gi

/** The commands of the vault that show neither values nor change anything. */
const HARMLESS: ReadonlySet<string> = new Set(['list', 'status', 'explain'])
