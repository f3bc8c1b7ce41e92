import { sanitize } from '../../core/base/sanitize.ts'
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

const MAX_BYTES = 1024
