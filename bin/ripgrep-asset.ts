import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'

/**
 * The ripgrep inside the binary. Layout: SHA-256 of the program (32 bytes), its length (u32 LE), the program
 * compressed with zstd.
 */
export interface RipgrepAsset {
  /** The SHA-256 of the program, in hexadecimal. */
  sha256: string
  size: number
  /** Decompresses the program. */
  program(): Promise<Buffer>
}

/** The number of bytes before the compressed program. */
export const HEAD_BYTES = 36

/** Reads the asset in place; the program is decompressed only on request. */
export function openRipgrepAsset(bytes: ArrayBuffer): RipgrepAsset {
  const asset = Buffer.from(bytes)
  return {
    sha256: asset.toString('hex', 0, 32),
    size: asset.readUInt32LE(32),
    program: () => promisify(zstdDecompress)(asset.subarray(HEAD_BYTES)),
  }
}
