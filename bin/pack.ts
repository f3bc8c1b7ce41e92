/**
 * The program inside the binary: every chunk's source and V8 code cache in one block of bytes.
 *
 * Layout: u32 LE length of the index, the index as JSON, then the data, each part at a multiple of 8.
 */
export interface Pack {
  /** A chunk's source text. Throws when there is no such chunk. */
  source(id: string): string
  /** A chunk's code cache, not copied unless it is compressed; undefined when the build made none. */
  cache(id: string): Uint8Array | undefined
}

/** Offsets count from the start of the data. A part that has its unpacked size as well is compressed with zstd. */
export type PackIndex = Record<string, { source: PackPart; cache?: PackPart }>
export type PackPart = [offset: number, length: number, unpacked?: number]

/** Rounds up to where a part may start: V8 reads a code cache in place and wants it aligned. */
export function align(offset: number): number {
  return (offset + 7) & ~7
}

/** Reads a pack in place; only the sources that are asked for are copied, into the strings V8 needs. */
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

/** node:zlib takes longer to load than all else here, so what a start needs is not compressed. */
function unpack(bytes: Buffer, size: number): Buffer {
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(bytes, { chunkSize: size })
}
