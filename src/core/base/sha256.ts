import { sha256 as digest } from '@noble/hashes/sha2.js'

/**
 * Computes the SHA-256 of bytes or of a text's UTF-8. For long input node:crypto is faster once it is loaded.
 */
export function sha256(content: string | Uint8Array): Buffer {
  return Buffer.from(digest(typeof content === 'string' ? Buffer.from(content) : content))
}
