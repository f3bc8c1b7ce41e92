import { sha256 } from '../../core/base/sha256.ts'

/** The placeholder for the seal; a renderer puts it once, in a comment near the beginning. */
export const SEAL = 'seal='

const LENGTH = 16

/** Inserts the unit's own checksum, by which a later run can tell whether the unit was edited. */
export function seal(text: string): string {
  return text.replace(SEAL, () => SEAL + checksum(text))
}

/** Whether a unit is unchanged since some version of this program wrote it; false for one without a seal. */
export function isSealed(text: string): boolean {
  const found = text.match(new RegExp(`${SEAL}([0-9a-f]{${LENGTH}})`))
  return found !== null && checksum(text.replace(found[0], SEAL)) === found[1]
}

function checksum(text: string): string {
  return sha256(text).toString('hex').slice(0, LENGTH)
}
