import { crc32 } from 'node:zlib'
import { isObject, parseObject } from '../../base/json.ts'

/** The list of files that form a generation. */
export interface CheckpointManifest {
  /** The `maker` of its CheckpointLocation. */
  maker: string
  parts: readonly ManifestPart[]
}

/** One file of a generation. */
export interface ManifestPart {
  role: string
  file: string
  bytes: number
  /** The CRC-32 stored in that file. */
  crc: number
}

/** The name of the file that describes the newest generation, in the same folder. */
export const CHECKPOINT_MANIFEST = 'manifest'
/** The maximum size that is read; larger than the manifest of any real index. */
export const MAX_MANIFEST_BYTES = 1024 * 1024

const FORMAT = 'CRABTALK-INDEX 1'
const FILE_NAME = /^[0-9A-Z]{26}\.part$/

/** Encodes a manifest as one line with the format and the CRC-32 of the rest, and one line of JSON. */
export function encodeManifest(manifest: CheckpointManifest): string {
  const json = `${JSON.stringify(manifest)}\n`
  return `${FORMAT} ${crc32(json)}\n${json}`
}

/**
 * Decodes a manifest; returns undefined for any other text. Every file it names is a plain name in its own
 * folder.
 */
export function decodeManifest(text: string): CheckpointManifest | undefined {
  const end = text.indexOf('\n') + 1
  const json = text.slice(end)
  if (text.slice(0, end) !== `${FORMAT} ${crc32(json)}\n`) return undefined
  const { maker, parts } = parseObject(json) ?? {}
  return typeof maker === 'string' && Array.isArray(parts) && parts.every(isPart)
    ? { maker, parts }
    : undefined
}

/** Returns the name of the file of a part. */
export function toPartFile(ulid: string): string {
  return `${ulid}.part`
}

function isPart(part: unknown): part is ManifestPart {
  if (!isObject(part)) return false
  const { role, file, bytes, crc } = part
  const isName = typeof file === 'string' && FILE_NAME.test(file)
  return isName && typeof role === 'string' && Number.isSafeInteger(bytes) && Number.isSafeInteger(crc)
}
