import { sha256 } from '../../base/sha256.ts'

/**
 * Returns the version of a file's content, for KnownFiles: 128 bits of its SHA-256.
 *
 * It does not use the modification time, which may change while the content does not (a checkout, a
 * formatter), and may stay the same while the content changes.
 */
export async function hashVersion(bytes: Uint8Array): Promise<string> {
  return (await digest(bytes)).subarray(0, 16).toString('base64url')
}

/** The size from which on loading node:crypto (5 ms) costs less than it saves. */
const LARGE_BYTES = 1024 * 1024

async function digest(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length < LARGE_BYTES) return sha256(bytes)
  const { createHash } = await import('node:crypto')
  return createHash('sha256').update(bytes).digest()
}
