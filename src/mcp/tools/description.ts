import { headOf } from '../../core/base/cut.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/** A server's words about something it offers: without control characters, at most 1 KiB, or so many bytes. */
export function toDescription(text: string, maxBytes = MAX_BYTES): string {
  const clean = sanitize(headOf(text, 4 * maxBytes))
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

const MAX_BYTES = 1024
