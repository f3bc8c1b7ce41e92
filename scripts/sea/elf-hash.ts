/** A symbol that is resolved when the program starts. */
export interface DynamicSymbol {
  /** Its number before. */
  index: number
  name: string
  /** Its entry in .dynsym. */
  entry: Buffer
  /** Its entry in .gnu.version. */
  version: number
  /** Whether this program defines it, so that libraries can find it here. */
  isDefined: boolean
}

const BLOOM_SHIFT = 6

/**
 * Returns the .gnu.hash of symbols and the order that it requires: undefined ones first, the others by
 * bucket. They are few: one word is a sufficient filter.
 */
export function hashSymbols(all: readonly DynamicSymbol[]): { table: Buffer; symbols: DynamicSymbol[] } {
  const imported = all.filter(({ isDefined }) => !isDefined)
  const bucketCount = Math.max(1, Math.ceil((all.length - imported.length) / 2))
  const hashed = all
    .filter(({ isDefined }) => isDefined)
    .map((symbol) => ({ symbol, hash: gnuHash(symbol.name) }))
    .toSorted((a, b) => (a.hash % bucketCount) - (b.hash % bucketCount))
  const table = Buffer.alloc(24 + 4 * (bucketCount + hashed.length))
  const head = [bucketCount, imported.length, 1, BLOOM_SHIFT]
  for (const [index, value] of head.entries()) table.writeUInt32LE(value, 4 * index)
  let bloom = 0n
  for (const [index, { hash }] of hashed.entries()) {
    bloom |= (1n << BigInt(hash % 64)) | (1n << BigInt((hash >>> BLOOM_SHIFT) % 64))
    const bucket = hash % bucketCount
    const isFirst = index === 0 || hashed[index - 1]!.hash % bucketCount !== bucket
    const next = hashed[index + 1]
    const isLast = next === undefined || next.hash % bucketCount !== bucket
    if (isFirst) table.writeUInt32LE(imported.length + index, 24 + 4 * bucket)
    table.writeUInt32LE(((hash & ~1) | (isLast ? 1 : 0)) >>> 0, 24 + 4 * (bucketCount + index))
  }
  table.writeBigUInt64LE(bloom, 16)
  return { table, symbols: [...imported, ...hashed.map(({ symbol }) => symbol)] }
}

function gnuHash(name: string): number {
  let hash = 5381
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 33) + name.charCodeAt(at)) >>> 0
  return hash
}
