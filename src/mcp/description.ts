import { headOf } from '../core/base/cut.ts'
import { sanitize } from '../core/base/sanitize.ts'

/** A server's words about something it offers: without control characters, at most 1 KiB. */
export function toDescription(text: string): string {
  const clean = sanitize(headOf(text, 4 * MAX_BYTES))
    .toWellFormed()
    .trim()
  const bytes = Buffer.from(clean)
  if (bytes.length <= MAX_BYTES) return clean
  const end = '…'
  const room = MAX_BYTES - Buffer.byteLength(end)
  return (
    bytes
      .subarray(0, room)
      .toString()
      .replace(/\uFFFD+$/, '') + end
  )
}

const MAX_BYTES = 1024
