import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'

/**
 * ripgrep inside the binary: SHA-256 of the program (32 bytes), its length (u32 LE), the program as zstd.
 */
export interface RipgrepAsset {
  /** In hexadecimal. */
  sha256: string
  size: number
  /** The whole program. */
  program(): Promise<Buffer>
}

/** Bytes before the compressed program. */
export const HEAD_BYTES = 36

/** Reads the asset in place; nothing is unpacked before it is asked for. */
export function openRipgrepAsset(bytes: ArrayBuffer): RipgrepAsset {
  const asset = Buffer.from(bytes)
  return {
    sha256: asset.toString('hex', 0, 32),
    size: asset.readUInt32LE(32),
    program: () => promisify(zstdDecompress)(asset.subarray(HEAD_BYTES)),
  }
}
