import { INTERPRETERS } from '../base/programs/interpreter-names.ts'
import { LAUNCHERS, REMOTE_LAUNCHERS, SHELL_PROGRAMS } from '../base/programs/launcher-names.ts'
import { findInnerCommand, plainName } from './inner-command.ts'
import { readsCommands } from './interpreters.ts'
import { parseRule } from './pattern.ts'
import type { Rule } from './types.ts'
import { findWideProgram, type WideProgram } from './wide-programs.ts'

/** Returns what a rule permits if it allows nearly anything; undefined for other rules. */
export function findWide({ effect, pattern }: Pick<Rule, 'effect' | 'pattern'>): WideProgram | undefined {
  if (effect !== 'allow') return undefined
  const form = parseRule(pattern)
  if (form.about === 'everything') return { permits: 'everything', instead: 'name tools, as in edit(src/**)' }
  if (form.about === 'edit') {
    const isAnywhere = form.path?.start !== '' && form.path?.glob === '**' && form.path.base.length === 0
    const permits = 'changes far outside the working directory'
    return isAnywhere ? { permits, instead: 'name a folder, as in edit(~/notes/**)' } : undefined
  }
  if (form.about !== 'bash') return undefined
  const star = form.words?.findIndex(({ parts }) => parts.length > 1) ?? 0
  const words = form.words?.map(({ text }) => text) ?? []
  return star < 0 ? findReading(words) : findWideCommand(words.slice(0, star))
}

/** Returns the warning for a rule that permits more than it seems, as a list of at most one sentence. */
export function warnAbout(rule: Rule): string[] {
  const wide = findWide(rule)
  if (wide === undefined) return []
  return [`${rule.source}: allow ${rule.pattern} permits ${wide.permits} without asking; ${wide.instead}`]
}

/**
 * Returns the warning for a rule that an answer would add, if it permits more than it seems; a list of at
 * most one sentence.
 */
export function warnAboutOffered(pattern: string): string[] {
  const wide = findWide({ effect: 'allow', pattern })
  return wide ? [`${pattern} would permit ${wide.permits} without asking; ${wide.instead}`] : []
}

/** Returns what a command without a `*` permits if it runs what is piped into it. */
function findReading(command: readonly string[]): WideProgram | undefined {
  if (!readsCommands(command)) return undefined
  const [name = ''] = command
  const instead = INTERPRETERS.test(plainName(name))
    ? `name the script, as in bash(${name} build.js)`
    : THEMSELVES
  return { permits: 'any command that is piped into it', instead }
}

/** Returns what a command permits with any further words, if that is nearly anything. */
function findWideCommand([name, ...words]: readonly string[]): WideProgram | undefined {
  if (name === undefined) return { permits: 'any command', instead: 'name one, as in bash(npm test *)' }
  const plain = plainName(name)
  const isOpen = !words.some((word) => /^[A-Za-z./]/.test(word) && !word.includes('='))
  if (SHELL_PROGRAMS.has(plain)) return isOpen ? { permits: 'any command', instead: THEMSELVES } : undefined
  if (plain === 'ssh') return { permits: 'any command on other machines', instead: 'write the whole line' }
  if (REMOTE_LAUNCHERS.has(plain))
    return { permits: 'anything that agent permits', instead: 'write the whole line' }
  const wide = findWideProgram(name, words)
  if (wide || !LAUNCHERS.has(plain)) return wide
  const { begin } = findInnerCommand([name, ...words])
  if (begin > 0) return findWideCommand(words.slice(begin - 1))
  if (!isOpen) return undefined
  const example = `bash(${[name, ...words].join(' ')} npm test *)`
  return { permits: `${plain} alone`, instead: `what it starts needs a rule of its own, such as ${example}` }
}

const THEMSELVES = 'allow the commands themselves, as in bash(npm test *)'
