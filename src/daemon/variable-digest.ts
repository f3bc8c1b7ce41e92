import { sha256 } from '../core/base/sha256.ts'

/** What is told of a variable's value (wire.md, HelloInfo.environment): enough to compare, nothing to use. */
export function variableDigest(value: string | undefined): string {
  return value ? sha256(value).toString('hex').slice(0, 16) : ''
}
