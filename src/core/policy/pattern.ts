import { CrabError } from '../base/errors.ts'
import { QUOTED_VALUE, type ShellWord, UNQUOTED_VALUE } from '../base/shell-lexer.ts'
import { type RuleForm, readRule } from '../config/rule-syntax.ts'
import { type PatternContext, pathMatcher } from './path-pattern.ts'
import { isInside } from './paths.ts'
import type { PolicyAction } from './types.ts'
import { couldMatch, matchesPieces } from './wildcard.ts'

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
  place: PatternContext
  isGenerous: boolean
}

/** Whether a rule is about a whole action; one for some commands of bash never is. */
export function matchesAction(
  form: RuleForm,
  action: PolicyAction,
  { place, isGenerous }: Comparison,
): boolean {
  switch (form.about) {
    case 'everything':
      return true
    case 'read':
    case 'edit':
      if (action.kind !== form.about) return false
      if (form.path === undefined) {
        return isGenerous || action.kind === 'read' || isInside(place.workspace, action.path)
      }
      return pathMatcher(form.path, place, { isGenerous })(action.path)
    case 'bash':
      return action.kind === 'bash' && (form.words === undefined || (isGenerous && isAnyCommand(form.words)))
    case 'mcp':
      return action.kind === 'mcp' && listToolNames(action).some((name) => matchesPieces(form.name, name))
    case 'tool':
      return action.kind === 'tool' && action.name === form.name
  }
}

/** Makes a test of whether a command, as commandText() gives it, is one a rule is about; a last `*` may be no word. */
export function commandMatcher(pattern: readonly ShellWord[]): (text: string) => boolean {
  const whole = toPieces(pattern)
  const isOpen = pattern.length > 1 && isAnyCommand(pattern.slice(-1))
  const short = isOpen ? toPieces(pattern.slice(0, -1)) : undefined
  return (text) => matchesPieces(whole, text) || (short !== undefined && matchesPieces(short, text))
}

/**
 * As commandMatcher(), of a command with values of parameters that nobody knows; whether it could be one a rule is about.
 *
 * Nothing after the first value is known for sure: it may be several words.
 */
export function possibleMatcher(pattern: readonly ShellWord[]): (text: string) => boolean {
  const whole = toPieces(pattern)
  const matches = commandMatcher(pattern)
  return (text) => {
    const value = text.search(VALUE)
    if (value < 0) return matches(text)
    const known = text.slice(0, value)
    return couldMatch(whole, known) || (known.endsWith(GAP) && matches(known.slice(0, -GAP.length)))
  }
}

/** A command as commandMatcher() compares it, in NFC. */
export function commandText(words: readonly string[]): string {
  return words.join(GAP).normalize('NFC')
}

/** Between words; no word has one, so that `git "status x"` is not `git status x`. */
const GAP = '\0'

const VALUE = new RegExp(`[${UNQUOTED_VALUE}${QUOTED_VALUE}]`)

/**
 * Makes a test of whether a whole line, as it is written, has a text in it: for a rule that begins with `*`, such as
 * `bash(*.ssh*)`, which is about the text wherever it stands. Undefined for other rules.
 */
export function lineMatcher(pattern: readonly ShellWord[]): ((line: string) => boolean) | undefined {
  const [first] = pattern
  if (first === undefined || first.parts.length === 1 || first.parts[0] !== '') return undefined
  const pieces = toPieces(pattern, ' ')
  return (line) => matchesPieces(pieces, line.normalize('NFC').replace(/\s+/g, ' '))
}

function toPieces(pattern: readonly ShellWord[], gap = GAP): string[] {
  const pieces = ['']
  for (const [i, { parts }] of pattern.entries()) {
    const [first = '', ...others] = parts
    pieces[pieces.length - 1] += (i === 0 ? '' : gap) + first
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
function listToolNames({ name, server, tool }: { name: string; server: string; tool: string }): string[] {
  return [name, `mcp__${server}__${tool}`].map((one) => one.normalize('NFC'))
}
