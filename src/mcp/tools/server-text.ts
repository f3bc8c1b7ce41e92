import { collapseBlanks, sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'

/**
 * Removes control characters from a server's text, which is otherwise kept whole, up to `maxLength`
 * characters (UTF-16 units). The end of a longer one says how long it is.
 */
export function cleanServerText(text: string, maxLength = MAX_TEXT): string {
  const clean = sanitize(takeStart(text, 4 * maxLength)).toWellFormed()
  if (clean.length <= maxLength) return clean
  const end = `… [cut: ${text.length} characters in all]`
  return takeStart(clean, maxLength - end.length) + end
}

/** Like cleanServerText(), for a short text: without blanks at its ends, and at most 1,024 characters. */
export function limitServerText(text: string): string {
  const clean = sanitize(takeStart(text, 4 * MAX_SHORT))
    .toWellFormed()
    .trim()
  return clean.length <= MAX_SHORT ? clean : `${takeStart(clean, MAX_SHORT - 1)}…`
}

/** Converts untrusted text to a single printable line of at most 300 characters and `…`. */
export function toPrintableLine(text: string): string {
  const line = collapseBlanks(sanitize(takeStart(text, 4 * MAX_LINE)).toWellFormed())
  return line.length > MAX_LINE ? `${takeStart(line, MAX_LINE)}…` : line
}

/** More than twice the longest description of the servers that were measured; it only stops hostile ones. */
const MAX_TEXT = 32 * 1024
const MAX_SHORT = 1024
const MAX_LINE = 300
