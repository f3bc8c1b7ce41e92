import { isPlaceholder } from '../credentials.ts'
import { isShaped, mayEndHere, secretVerdict } from './secret-names.ts'

/** A range of a text, by its start and end index. */
export type TextSpan = [from: number, to: number]

/**
 * Yields the spans of values that a text assigns to secret names: `DB_PASSWORD=hunter2`, `api_key: abc123`,
 * and the same in JSON, including JSON in a string with escaped quotes.
 *
 * In prose and source code only values with letters and digits count. After `NAME=`, as in a `.env` file, any
 * word counts. The time is linear in the length of the text.
 */
export function* findAssignedSecrets(text: string): Generator<TextSpan> {
  for (const sign of ['=', ':']) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const span = assignedAt(text, at)
      if (span) yield span
    }
  }
}

function assignedAt(text: string, at: number): TextSpan | undefined {
  const [start, end] = nameBefore(text, at)
  if (start === end) return undefined
  const name = text.slice(start, end)
  const verdict = secretVerdict(name)
  if (verdict === 'never') return undefined
  const [all = '', value = ''] = VALUE.exec(text.slice(at + 1, at + MAX_VALUE)) ?? []
  if (value === '' || /^[./~]|[()[\]{}]/.test(value) || isPlaceholder(value)) return undefined
  const isVariable = end === at && /^[A-Z][A-Z\d_]*$/.test(name) && isWordStart(text, start)
  // The value is a property access in source code.
  if (!isVariable && !/["']/.test(all) && /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$/i.test(value)) return undefined
  const hasBoth = /\d/.test(value) && /[A-Za-z]/.test(value)
  const counts = isVariable ? !PLAIN_WORD.test(value) : verdict === 'always' ? hasBoth : isShaped(value)
  return counts ? [at + 1 + all.length - value.length, at + 1 + all.length] : undefined
}

/**
 * Returns the span of the quoted or unquoted name before an assignment sign; an empty span when it is not the
 * name of a secret.
 */
function nameBefore(text: string, at: number): TextSpan {
  let end = at
  while (end > 0 && at - end < MAX_BLANKS && isBlank(text.charCodeAt(end - 1))) end--
  while (end > 0 && at - end < MAX_BLANKS + MAX_QUOTES && isQuote(text.charCodeAt(end - 1))) end--
  if (!mayEndHere(text, end)) return [end, end]
  let start = end
  while (start > 0 && end - start < MAX_NAME && isNameCharacter(text.charCodeAt(start - 1))) start--
  const isEscape = text.charCodeAt(start - 1) === 0x5c && /^[nrt][A-Z]/.test(text.slice(start, start + 2))
  return [isEscape ? start + 1 : start, end]
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || /(?:[\s"'`]|\\[nrt])$/.test(text.slice(Math.max(0, at - 2), at))
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09
}

/** Whether a character is a quote of either kind, or a backslash that may escape one. */
function isQuote(unit: number): boolean {
  return unit === 0x22 || unit === 0x27 || unit === 0x5c
}

function isNameCharacter(unit: number): boolean {
  if (unit < 0x30) return unit === 0x2d || unit === 0x2e
  return unit <= 0x39 || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a)
}

const VALUE = /^[ \t]{0,4}\\{0,7}["']?([^\s"'`,;&|<>\\]{6,300})/
const PLAIN_WORD =
  /^(?:\$.*|\d+|true|false|required|optional|string|number|boolean|enabled?|disabled?|default|random|always|[\w.-]*(?:password|secret|token)s?)$/i
const MAX_NAME = 80
const MAX_VALUE = 330
const MAX_BLANKS = 4
const MAX_QUOTES = 8
