import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { isObject, parseObject } from '../../base/json.ts'
import type { JsonObject } from '../../base/message.ts'
import type { CheckpointPart, NumberArray } from './types.ts'

// The format of a part's file: the magic, u32 version, u32 CRC-32 of all that follows, u32 length of the
// head, the head as JSON {facts, arrays: [[name, type, items]…]}, then the arrays in that order. Head and
// arrays are padded to multiples of 8 bytes. Numbers are little-endian, like on every processor that Node
// supports.

const MAGIC = Buffer.from('CRABIDX\0', 'latin1')
const VERSION = 1
const CRC_AT = MAGIC.length + 4
/** The start of the bytes that the CRC covers. */
const SUMMED_AT = CRC_AT + 4
const HEAD_AT = SUMMED_AT + 4

const ARRAY_TYPES: Readonly<Record<ArrayType, ViewConstructor>> = {
  Uint8Array,
  Uint16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
}
type ArrayType = 'Uint8Array' | 'Uint16Array' | 'Uint32Array' | 'Int32Array' | 'Float32Array' | 'Float64Array'
interface ViewConstructor {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): NumberArray
}

/**
 * Returns the consecutive pieces of a part's file, and the CRC-32 stored in it. The pieces include the arrays
 * themselves, not copies.
 */
export function encodePart({ facts, arrays }: CheckpointPart): { pieces: Uint8Array[]; crc: number } {
  const entries = Object.entries(arrays)
  const head = JSON.stringify({
    facts,
    arrays: entries.map(([name, array]) => [name, array.constructor.name, array.length]),
  })
  const first = Buffer.alloc(align(HEAD_AT + Buffer.byteLength(head)))
  MAGIC.copy(first)
  first.writeUInt32LE(VERSION, MAGIC.length)
  first.writeUInt32LE(Buffer.byteLength(head), SUMMED_AT)
  first.write(head, HEAD_AT)
  const bodies = entries.flatMap(([, array]) => [
    toBytes(array),
    new Uint8Array(align(array.byteLength) - array.byteLength),
  ])
  const crc = bodies.reduce((sum, piece) => crc32(piece, sum), crc32(first.subarray(SUMMED_AT)))
  first.writeUInt32LE(crc, CRC_AT)
  return { pieces: [first, ...bodies.filter((piece) => piece.length > 0)], crc }
}

/**
 * Decodes a part and its CRC-32 from the bytes of a file; returns the reason as a string when they are not a
 * part.
 *
 * `bytes` must begin at the start of its buffer. The arrays are views of it; no length in the file causes an
 * allocation.
 */
export function decodePart(
  bytes: Uint8Array<ArrayBufferLike>,
): { part: CheckpointPart; crc: number } | string {
  if (endianness() !== 'LE') return 'this machine uses a different byte order'
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEAD_AT || !view.subarray(0, MAGIC.length).equals(MAGIC))
    return 'it is not part of an index'
  const version = view.readUInt32LE(MAGIC.length)
  if (version !== VERSION) return `its format is ${version}, not ${VERSION}`
  const crc = view.readUInt32LE(CRC_AT)
  if (crc32(bytes.subarray(SUMMED_AT)) !== crc) return 'its checksum is wrong'
  const end = HEAD_AT + view.readUInt32LE(SUMMED_AT)
  const head = end <= bytes.length ? parseObject(view.toString('utf8', HEAD_AT, end)) : undefined
  const part = head && toPart(head, { bytes, at: align(end) })
  return part ? { part, crc } : 'its header does not match its length'
}

function toPart(
  { facts, arrays }: JsonObject,
  { bytes, at }: { bytes: Uint8Array<ArrayBufferLike>; at: number },
): CheckpointPart | undefined {
  if (!isObject(facts) || !Array.isArray(arrays)) return undefined
  if (!Object.values(facts).every((fact) => typeof fact === 'number')) return undefined
  const found: [string, NumberArray][] = []
  for (const entry of arrays) {
    if (!isArrayEntry(entry)) return undefined
    const [name, type, length] = entry
    const Type = ARRAY_TYPES[type]
    const next = at + align(length * Type.BYTES_PER_ELEMENT)
    if (next > bytes.length) return undefined
    found.push([name, new Type(bytes.buffer, bytes.byteOffset + at, length)])
    at = next
  }
  if (at !== bytes.length) return undefined
  return { facts: facts as Record<string, number>, arrays: Object.fromEntries(found) }
}

function isArrayEntry(entry: unknown): entry is [string, ArrayType, number] {
  if (!Array.isArray(entry)) return false
  const [name, type, length] = entry
  return (
    typeof name === 'string' &&
    typeof type === 'string' &&
    Object.hasOwn(ARRAY_TYPES, type) &&
    Number.isSafeInteger(length) &&
    length >= 0
  )
}

function toBytes({ buffer, byteOffset, byteLength }: NumberArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Returns the next multiple of 8, the strictest alignment of any typed array. */
function align(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}
