import { crc32 } from 'node:zlib'
import { isObject, parseObject } from '../../base/json.ts'

/** Which files are a generation. */
export interface CheckpointManifest {
  /** As CheckpointPlace has it. */
  maker: string
  parts: readonly ManifestPart[]
}

export interface ManifestPart {
  role: string
  file: string
  bytes: number
  /** CRC-32 in that file. */
  crc: number
}

/** Where the newest generation is written down, in the folder of its files. */
export const CHECKPOINT_MANIFEST = 'manifest'
/** More files than an index ever has make no manifest larger than this. */
export const MAX_MANIFEST_BYTES = 1024 * 1024

const FORMAT = 'CRABTALK-INDEX 1'
const FILE_NAME = /^[0-9A-Z]{26}\.part$/

/** A line with the format and the CRC-32 of the rest, and a line of JSON. */
export function encodeManifest(manifest: CheckpointManifest): string {
  const json = `${JSON.stringify(manifest)}\n`
  return `${FORMAT} ${crc32(json)}\n${json}`
}

/** The manifest a text is; undefined for any other text. Every file it names is a name in its own folder. */
export function decodeManifest(text: string): CheckpointManifest | undefined {
  const end = text.indexOf('\n') + 1
  const json = text.slice(end)
  if (text.slice(0, end) !== `${FORMAT} ${crc32(json)}\n`) return undefined
  const { maker, parts } = parseObject(json) ?? {}
  return typeof maker === 'string' && Array.isArray(parts) && parts.every(isPart)
    ? { maker, parts }
    : undefined
}

/** The name of a file that holds a part. */
export function toPartFile(ulid: string): string {
  return `${ulid}.part`
}

function isPart(part: unknown): part is ManifestPart {
  if (!isObject(part)) return false
  const { role, file, bytes, crc } = part
  const isName = typeof file === 'string' && FILE_NAME.test(file)
  return isName && typeof role === 'string' && Number.isSafeInteger(bytes) && Number.isSafeInteger(crc)
}
