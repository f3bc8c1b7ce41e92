/**
 * The program inside the binary: the source and the V8 code cache of every chunk in one block of bytes.
 *
 * Layout: the length of the index (u32 LE), the index as JSON, then the data, each part at a multiple of 8.
 */
export interface Pack {
  /** Returns a chunk's source text. Throws when the chunk does not exist. */
  source(id: string): string
  /**
   * Returns a chunk's code cache, without copying it unless it is compressed; undefined when the build made
   * none.
   */
  cache(id: string): Uint8Array | undefined
}

/**
 * The parts of each chunk. Offsets count from the start of the data; a part with an unpacked size is
 * compressed with zstd.
 */
export type PackIndex = Record<string, { source: PackPart; cache?: PackPart }>
/** A part of the data, in bytes; `unpacked` is its size after decompression. */
export type PackPart = [offset: number, length: number, unpacked?: number]

/**
 * Rounds up to the next offset where a part may start: V8 reads code caches in place and requires alignment.
 */
export function align(offset: number): number {
  return (offset + 7) & ~7
}

/** Reads a pack in place; only requested sources are copied, into the strings that V8 needs. */
export function openPack(bytes: ArrayBuffer): Pack {
  const pack = Buffer.from(bytes)
  const indexEnd = 4 + pack.readUInt32LE(0)
  const index: PackIndex = JSON.parse(pack.toString('latin1', 4, indexEnd))
  const start = align(indexEnd)
  const part = ([offset, length, unpacked]: PackPart) => {
    const bytes = pack.subarray(start + offset, start + offset + length)
    return unpacked === undefined ? bytes : unpack(bytes, unpacked)
  }
  return {
    source(id) {
      return part(index[id]!.source).toString('latin1')
    },
    cache(id) {
      const cache = index[id]!.cache
      return cache && part(cache)
    },
  }
}

/**
 * Decompresses a part. node:zlib takes longer to load than everything else here, so the parts a start needs
 * are not compressed.
 */
function unpack(bytes: Buffer, size: number): Buffer {
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(bytes, { chunkSize: size })
}
