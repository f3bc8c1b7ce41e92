import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { Notices } from '../src/cli/host.ts'

/** The name of the asset with the licenses: JSON compressed with zstd. */
export const NOTICES_ASSET = 'notices'

/**
 * Unpacks the licenses of everything in the binary; undefined when running from source, because only the
 * build makes the list.
 */
export async function unpackNotices(): Promise<Notices | undefined> {
  if (!isSea() || !getAssetKeys().includes(NOTICES_ASSET)) return undefined
  const asset = Buffer.from(getRawAsset(NOTICES_ASSET) as ArrayBuffer)
  return JSON.parse((await promisify(zstdDecompress)(asset)).toString())
}
