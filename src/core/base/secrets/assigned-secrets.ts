import { isPlaceholder } from '../credentials.ts'
import { isShaped, mayEndHere, secretVerdict } from './secret-names.ts'

/** A stretch of a text: where it begins, and where it ends. */
export type TextSpan = [from: number, to: number]

/**
 * Gives the places of the values that a text assigns to names of secrets: `DB_PASSWORD=hunter2`, `api_key: abc123`, and
 * the same in JSON, also where that stands in a string with its quotes escaped.
 *
 * In prose and source code only values of letters and digits count; behind `NAME=`, as in a `.env`, any word does. It takes time in proportion to the text.
 */
export function* findAssignedSecrets(text: string): Generator<TextSpan> {
  for (const sign of ['=', ':']) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const place = assignedAt(text, at)
      if (place) yield place
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
  if (!isVariable && !/["']/.test(all) && /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$/i.test(value)) return undefined // code
  const hasBoth = /\d/.test(value) && /[A-Za-z]/.test(value)
  const counts = isVariable ? !PLAIN_WORD.test(value) : verdict === 'always' ? hasBoth : isShaped(value)
  return counts ? [at + 1 + all.length - value.length, at + 1 + all.length] : undefined
}

/** Finds the name before an assignment sign, with or without quotes; an empty span when it is not the name of a secret. */
function nameBefore(text: string, at: number): TextSpan {
  let end = at
  while (end > 0 && at - end < MAX_BLANKS && isBlank(text.charCodeAt(end - 1))) end--
  while (end > 0 && at - end < MAX_BLANKS + MAX_QUOTES && isQuote(text.charCodeAt(end - 1))) end--
  if (!mayEndHere(text, end)) return [end, end]
  let start = end
  while (start > 0 && end - start < MAX_NAME && isOfName(text.charCodeAt(start - 1))) start--
  const isEscape = text.charCodeAt(start - 1) === 0x5c && /^[nrt][A-Z]/.test(text.slice(start, start + 2))
  return [isEscape ? start + 1 : start, end]
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || /(?:[\s"'`]|\\[nrt])$/.test(text.slice(Math.max(0, at - 2), at))
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09
}

/** A quote of either kind, or a backslash before one. */
function isQuote(unit: number): boolean {
  return unit === 0x22 || unit === 0x27 || unit === 0x5c
}

function isOfName(unit: number): boolean {
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
