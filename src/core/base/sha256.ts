import { sha256 as digest } from '@noble/hashes/sha2.js'

/** SHA-256 of a short text's UTF-8; for long ones node:crypto is faster, once it is loaded. */
export function sha256(text: string): Buffer {
  return Buffer.from(digest(Buffer.from(text)))
}
