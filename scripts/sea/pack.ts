import { align, type PackIndex, type PackPart } from '../../bin/pack.ts'

/** The bytes that `openPack` reads: sources are ASCII, a chunk without a code cache simply has none. */
export function makePack(
  chunks: ReadonlyMap<string, string>,
  caches: ReadonlyMap<string, Uint8Array>,
): Buffer<ArrayBuffer> {
  const index: PackIndex = {}
  const parts: Uint8Array[] = []
  let end = 0
  const put = (bytes: Uint8Array): PackPart => {
    const offset = end
    parts.push(bytes, Buffer.alloc(align(bytes.length) - bytes.length))
    end += align(bytes.length)
    return [offset, bytes.length]
  }
  for (const [id, source] of chunks) {
    const cache = caches.get(id)
    index[id] = { source: put(Buffer.from(source, 'latin1')), ...(cache && { cache: put(cache) }) }
  }
  return Buffer.concat([head(JSON.stringify(index)), ...parts])
}

function head(index: string): Buffer {
  const bytes = Buffer.alloc(align(4 + index.length))
  bytes.writeUInt32LE(index.length, 0)
  bytes.write(index, 4, 'latin1')
  return bytes
}
