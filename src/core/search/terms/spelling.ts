/**
 * Returns where the `++` or `#` that belongs to the word before it ends: `C++17`, `g++`, `F#`, `C#12`.
 * Returns `at`, the end of the word, when there is none: `a++b`, `page#part`.
 */
export function markEnd(text: string, from: number, at: number): number {
  const mark = text.charCodeAt(at)
  if ((mark !== PLUS && mark !== HASH) || isDigit(text.charCodeAt(at - 1))) return at
  const end = mark === PLUS ? at + 2 : at + 1
  if (mark === PLUS && text.charCodeAt(at + 1) !== PLUS) return at
  const next = text.charCodeAt(end)
  const isNumbered = isDigit(next) && (mark === PLUS || at - from === 1)
  return next === mark || isLetter(next) || (isDigit(next) && !isNumbered) ? at : end
}

/**
 * Whether a dot before the word at `at` belongs to its name: `.NET`, `~/.env`; but not `end.Then`,
 * `x().then`, `…`.
 */
export function hasLeadingDot(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== DOT || isDigit(text.charCodeAt(at))) return false
  return at === 1 || BEFORE_NAMES.includes(text[at - 2]!)
}

/**
 * Whether the one-letter word at `at` may be a name: not the English words `a` and `I`, and not after an
 * apostrophe.
 */
export function isLoneLetter(text: string, at: number): boolean {
  if (!isLetter(text.charCodeAt(at)) || ENGLISH_WORDS.includes(text[at]!)) return false
  return at === 0 || !APOSTROPHES.includes(text[at - 1]!)
}

/** Whether a word is a `v` followed by a number. */
export function isVersionWord(text: string, from: number, to: number): boolean {
  if ((text.charCodeAt(from) | 0x20) !== LOWER_V || to - from < 2) return false
  for (let at = from + 1; at < to; at++) if (!isDigit(text.charCodeAt(at))) return false
  return true
}

/** Whether the characters before and after `at` are ASCII digits. */
export function isBetweenDigits(text: string, at: number): boolean {
  return isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1))
}

function isLetter(unit: number): boolean {
  return (unit | 0x20) >= LOWER_A && (unit | 0x20) <= LOWER_Z
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

const PLUS = 0x2b
const HASH = 0x23
const DOT = 0x2e
const LOWER_A = 0x61
const LOWER_V = 0x76
const LOWER_Z = 0x7a
const BEFORE_NAMES = ' \t\n\r/\\([{"\'`,;:|'
const ENGLISH_WORDS = 'AaIi'
const APOSTROPHES = "'’"
