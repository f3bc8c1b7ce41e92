import { constants, zstdCompressSync } from 'node:zlib'
import { align, type PackIndex, type PackPart } from '../../bin/pack.ts'

/** Smaller parts stay uncompressed: they would save less than it costs to decompress them. */
const MIN_BYTES = 1024
/** The highest level of zstd that needs no additional memory for decompression. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 19 } }

/** The content of the pack. */
export interface PackContent {
  /** ASCII source by name. */
  chunks: ReadonlyMap<string, string>
  /** Code caches by chunk name; a chunk need not have one. */
  caches: ReadonlyMap<string, Uint8Array>
  /** The names of the chunks that may be compressed, because their load time does not matter. */
  cold: ReadonlySet<string>
}

/** Builds the bytes that `openPack` reads. */
export function makePack({ chunks, caches, cold }: PackContent): Buffer<ArrayBuffer> {
  const index: PackIndex = {}
  const parts: Uint8Array[] = []
  let end = 0
  const put = (bytes: Uint8Array, id: string): PackPart => {
    const offset = end
    const isCompressed = cold.has(id) && bytes.length >= MIN_BYTES
    const stored = isCompressed ? zstdCompressSync(bytes, LEVEL) : bytes
    parts.push(stored, Buffer.alloc(align(stored.length) - stored.length))
    end += align(stored.length)
    return isCompressed ? [offset, stored.length, bytes.length] : [offset, stored.length]
  }
  for (const [id, source] of chunks) {
    const cache = caches.get(id)
    index[id] = { source: put(Buffer.from(source, 'latin1'), id), ...(cache && { cache: put(cache, id) }) }
  }
  return Buffer.concat([head(JSON.stringify(index)), ...parts])
}

function head(index: string): Buffer {
  const bytes = Buffer.alloc(align(4 + index.length))
  bytes.writeUInt32LE(index.length, 0)
  bytes.write(index, 4, 'latin1')
  return bytes
}
