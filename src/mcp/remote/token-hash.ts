import { sha256 } from '../../core/base/sha256.ts'

/** Returns a short hash by which a token can be recognized. */
export function hashBearerToken(token: string): string {
  return sha256(token).toString('hex').slice(0, 32)
}
