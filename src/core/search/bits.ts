/** Creates a bit set of `count` bits, all 0. */
export function emptyBits(count: number): Uint8Array {
  return new Uint8Array((count + 7) >> 3)
}

/** Whether a bit is 1. */
export function hasBit(bits: Uint8Array, index: number): boolean {
  return (bits[index >> 3]! & (1 << (index & 7))) !== 0
}

/** Sets a bit to 1. */
export function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3]! |= 1 << (index & 7)
}
