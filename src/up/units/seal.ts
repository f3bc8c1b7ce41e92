import { sha256 } from '../../core/base/sha256.ts'

/** Where a renderer wants the seal; it stands in a comment near the beginning, once. */
export const SEAL = 'seal='

const LENGTH = 16

/** A unit with the checksum of itself in it, by which a later run sees that nobody has edited it. */
export function seal(text: string): string {
  return text.replace(SEAL, () => SEAL + checksum(text))
}

/** Whether a unit is as some version of this program wrote it: what was edited, or never sealed, is not. */
export function isSealed(text: string): boolean {
  const found = text.match(new RegExp(`${SEAL}([0-9a-f]{${LENGTH}})`))
  return found !== null && checksum(text.replace(found[0], SEAL)) === found[1]
}

function checksum(text: string): string {
  return sha256(text).toString('hex').slice(0, LENGTH)
}
