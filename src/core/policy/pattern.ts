import { CrabError } from '../base/errors.ts'
import type { ShellWord } from '../base/shell-lexer.ts'
import { type RuleForm, readRule } from '../config/rule-syntax.ts'
import { type Place, pathMatcher } from './path-pattern.ts'
import type { Action } from './types.ts'
import { matchesPieces } from './wildcard.ts'

/** Reads a rule's text. Throws `invalid`, with a rule that is right as the hint. */
export function parseRule(text: string): RuleForm {
  const reading = readRule(text)
  if (reading.ok) return reading.value
  const { predicate, example } = reading.problem
  throw new CrabError('invalid', `Cannot use the rule ${JSON.stringify(text)}: it ${predicate}`, {
    hint: `for example ${example}`,
  })
}

/** Where, and how generously, a rule is compared: those that restrict match more than those that allow. */
export interface Comparison {
  place: Place
  isGenerous: boolean
}

/** Whether a rule is about a whole action; one for some commands of bash never is. */
export function matchesAction(form: RuleForm, action: Action, { place, isGenerous }: Comparison): boolean {
  switch (form.about) {
    case 'everything':
      return true
    case 'read':
    case 'edit':
      if (action.kind !== form.about) return false
      return form.path === undefined || pathMatcher(form.path, place, { isGenerous })(action.path)
    case 'bash':
      return action.kind === 'bash' && (form.words === undefined || (isGenerous && isAnyCommand(form.words)))
    case 'mcp':
      return action.kind === 'mcp' && namesOf(action).some((name) => matchesPieces(form.name, name))
    case 'tool':
      return action.kind === 'tool' && action.name === form.name
  }
}

/** Whether a rule's words are those of a command; a trailing `*` word also stands for no word at all. */
export function matchesCommand(pattern: readonly ShellWord[], command: readonly string[]): boolean {
  const text = command.join(GAP).normalize('NFC')
  if (matchesPieces(toPieces(pattern), text)) return true
  const isOpen = pattern.length > 1 && isAnyCommand(pattern.slice(-1))
  return isOpen && matchesPieces(toPieces(pattern.slice(0, -1)), text)
}

/** Between words; no word has one, so that `git "status x"` is not `git status x`. */
const GAP = '\0'

function toPieces(pattern: readonly ShellWord[]): string[] {
  const pieces = ['']
  for (const [i, { parts }] of pattern.entries()) {
    const [first = '', ...others] = parts
    pieces[pieces.length - 1] += (i === 0 ? '' : GAP) + first
    pieces.push(...others)
  }
  return pieces
}

function isAnyCommand(pattern: readonly ShellWord[]): boolean {
  return (
    pattern.length === 1 && /^\*+$/.test(pattern[0]!.text) && pattern[0]!.parts.every((part) => part === '')
  )
}

/** What a rule may call an MCP tool: as the model does, or by the name its server gave it. */
function namesOf({ name, server, tool }: { name: string; server: string; tool: string }): string[] {
  return [name, `mcp__${server}__${tool}`].map((one) => one.normalize('NFC'))
}
