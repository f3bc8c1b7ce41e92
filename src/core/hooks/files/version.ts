import { sha256 } from '../../base/sha256.ts'

/**
 * The version of a file's content, for KnownFiles: 128 bits of its SHA-256.
 *
 * Not its time: that changes when nothing else does (a checkout, a formatter), and may stay when the content changes.
 */
export async function hashVersion(bytes: Uint8Array): Promise<string> {
  return (await digest(bytes)).subarray(0, 16).toString('base64url')
}

/** From here on loading node:crypto (5 ms) costs less than it saves. */
const LARGE_BYTES = 1024 * 1024

async function digest(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length < LARGE_BYTES) return sha256(bytes)
  const { createHash } = await import('node:crypto')
  return createHash('sha256').update(bytes).digest()
}
