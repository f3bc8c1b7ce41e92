import { crc32, deflateRawSync } from 'node:zlib'
import { type Entry, inOrder } from './file-tree.ts'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const VERSION = 20
const DEFLATE = 8
const UTF8 = 0x800
/** 1985-10-26 08:15 in MS-DOS format. */
const TIME = (8 << 11) | (15 << 5)
const DATE = ((1985 - 1980) << 9) | (10 << 5) | 26

/** Makes a zip for Windows, without links and modes; the same content gives the same bytes. */
export function makeZip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const entry of inOrder(entries)) {
    if ('link' in entry) throw new Error(`Cannot put the link ${entry.path} into a zip`)
    const name = Buffer.from(entry.path)
    const packed = deflateRawSync(entry.bytes, { level: 9 })
    const facts = toCommonFields(entry.bytes, packed, name)
    parts.push(numbers([LOCAL, 4], [VERSION, 2], ...facts, [0, 2]), name, packed)
    central.push(
      numbers(
        [CENTRAL, 4],
        [VERSION, 2],
        [VERSION, 2],
        ...facts,
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 4],
        [offset, 4],
      ),
      name,
    )
    offset += 30 + name.length + packed.length
  }
  const index = Buffer.concat(central)
  const count = central.length / 2
  const end = numbers(
    [END, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [index.length, 4],
    [offset, 4],
    [0, 2],
  )
  return Buffer.concat([...parts, index, end])
}

type Field = readonly [value: number, bytes: number]

/** Returns the fields that a file's local header and its central directory entry share. */
function toCommonFields(bytes: Uint8Array, packed: Uint8Array, name: Uint8Array): Field[] {
  return [
    [UTF8, 2],
    [DEFLATE, 2],
    [TIME, 2],
    [DATE, 2],
    [crc32(bytes), 4],
    [packed.length, 4],
    [bytes.length, 4],
    [name.length, 2],
  ]
}

function numbers(...fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [, size]) => sum + size, 0))
  let at = 0
  for (const [value, size] of fields) at = bytes.writeUIntLE(value, at, size)
  return bytes
}
