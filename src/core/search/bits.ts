/** A bit for each of `count` things, all 0. */
export function emptyBits(count: number): Uint8Array {
  return new Uint8Array((count + 7) >> 3)
}

export function hasBit(bits: Uint8Array, index: number): boolean {
  return (bits[index >> 3]! & (1 << (index & 7))) !== 0
}

export function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3]! |= 1 << (index & 7)
}
