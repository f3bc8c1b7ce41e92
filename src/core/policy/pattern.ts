import { CrabError } from '../base/errors.ts'
import { QUOTED_VALUE, type ShellWord, UNQUOTED_VALUE } from '../base/shell-lexer.ts'
import { type RuleForm, readRule } from '../config/rule-syntax.ts'
import { type PatternContext, pathMatcher } from './path-pattern.ts'
import { isInWorkspace } from './paths.ts'
import type { PolicyAction } from './types.ts'
import { couldMatch, matchesPieces } from './wildcard.ts'

/** Parses the text of a rule. Throws `invalid` with a correct rule as the hint. */
export function parseRule(text: string): RuleForm {
  const reading = readRule(text)
  if (reading.ok) return reading.value
  const { predicate, example } = reading.problem
  throw new CrabError('invalid', `Cannot use the rule ${JSON.stringify(text)}: it ${predicate}`, {
    hint: `for example ${example}`,
  })
}

/**
 * The context and strictness of a comparison. Restricting rules are compared generously: they match more than
 * rules that allow.
 */
export interface Comparison {
  context: PatternContext
  isGenerous: boolean
}

/** Whether a rule matches an action as a whole. A rule for some bash commands never does. */
export function matchesAction(
  form: RuleForm,
  action: PolicyAction,
  { context, isGenerous }: Comparison,
): boolean {
  switch (form.about) {
    case 'everything':
      return true
    case 'read':
    case 'edit':
      if (action.kind !== form.about) return false
      if (form.path === undefined) {
        return isGenerous || action.kind === 'read' || isInWorkspace(context, action.path)
      }
      return pathMatcher(form.path, context, { isGenerous })(action.path)
    case 'bash':
      return action.kind === 'bash' && (form.words === undefined || (isGenerous && isAnyCommand(form.words)))
    case 'mcp':
      return action.kind === 'mcp' && listToolNames(action).some((name) => matchesPieces(form.name, name))
    case 'tool':
      return action.kind === 'tool' && action.name === form.name
  }
}

/**
 * Returns a function that tests whether a command, in the form of commandText(), matches a rule. A trailing
 * `*` also matches zero words.
 */
export function commandMatcher(pattern: readonly ShellWord[]): (text: string) => boolean {
  const whole = toPieces(pattern)
  const isOpen = pattern.length > 1 && isAnyCommand(pattern.slice(-1))
  const short = isOpen ? toPieces(pattern.slice(0, -1)) : undefined
  return (text) => matchesPieces(whole, text) || (short !== undefined && matchesPieces(short, text))
}

/**
 * Like commandMatcher(), for commands with unknown parameter values: tests whether the command could match.
 *
 * Everything after the first value is uncertain, because the value may be several words.
 */
export function possibleMatcher(pattern: readonly ShellWord[]): (text: string) => boolean {
  const whole = toPieces(pattern)
  const matches = commandMatcher(pattern)
  return (text) => {
    const value = text.search(VALUE)
    if (value < 0) return matches(text)
    const prefix = text.slice(0, value)
    return couldMatch(whole, prefix) || (prefix.endsWith(GAP) && matches(prefix.slice(0, -GAP.length)))
  }
}

/** Returns a command in the form that commandMatcher() compares, in NFC. */
export function commandText(words: readonly string[]): string {
  return words.join(GAP).normalize('NFC')
}

/** The separator of words. It never occurs in a word, so that `git "status x"` differs from `git status x`. */
const GAP = '\0'

const VALUE = new RegExp(`[${UNQUOTED_VALUE}${QUOTED_VALUE}]`)

/**
 * Returns a function that tests whether an entire line contains a text, for rules that begin with `*`, such
 * as `bash(*.ssh*)`, and match the text anywhere. Undefined for other rules.
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

/**
 * Returns the names of an MCP tool in rules: the one that the model uses, and the one with the server's own
 * tool name.
 */
function listToolNames({ name, server, tool }: { name: string; server: string; tool: string }): string[] {
  return [name, `mcp__${server}__${tool}`].map((one) => one.normalize('NFC'))
}
