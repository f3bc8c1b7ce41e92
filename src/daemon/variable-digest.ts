import { sha256 } from '../core/base/sha256.ts'

/**
 * Returns the digest of a variable's value for `HelloInfo.environment` (ADR 0104): it can be compared, but
 * does not reveal the value.
 */
export function variableDigest(value: string | undefined): string {
  return value ? sha256(value).toString('hex').slice(0, 16) : ''
}
