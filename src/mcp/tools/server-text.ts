import { collapseBlanks, sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'

/**
 * Removes control characters from a server's description and truncates it to `maxBytes` bytes, 1 KiB by
 * default.
 */
export function limitDescription(text: string, maxBytes = MAX_BYTES): string {
  const clean = sanitize(takeStart(text, 4 * maxBytes))
    .toWellFormed()
    .trim()
  const bytes = Buffer.from(clean)
  if (bytes.length <= maxBytes) return clean
  const end = '…'
  const room = maxBytes - Buffer.byteLength(end)
  return (
    bytes
      .subarray(0, room)
      .toString()
      .replace(/\uFFFD+$/, '') + end
  )
}

/** Converts untrusted text to a single printable line of at most 300 characters and `…`. */
export function toPrintableLine(text: string): string {
  const line = collapseBlanks(sanitize(takeStart(text, 4 * MAX_LINE)).toWellFormed())
  return line.length > MAX_LINE ? `${takeStart(line, MAX_LINE)}…` : line
}

const MAX_BYTES = 1024
const MAX_LINE = 300
