import { CrabError } from '../base/errors.ts'
import type { Memory, MemoryEntry, MemoryKind } from './types.ts'

/** A memory as a CRMEM v1 file (RFC 0150), its entries by id. Text that is no valid Unicode is mended. */
export function encodeMemory({ nextId, entries }: Memory): Buffer {
  const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const size = sorted.reduce((sum, entry) => sum + sizeOf(entry), HEADER.length + 12)
  const writer = new Writer(size)
  writer.bytes(HEADER)
  writer.u64(nextId)
  writer.u32(sorted.length)
  for (const entry of sorted) writeEntry(writer, entry)
  return writer.done()
}

/**
 * The memory in a CRMEM v1 file.
 *
 * Throws `invalid` for anything that is not exactly one whole memory: another magic, version or flag, a length that
 * does not fit, bytes left over, text that is no UTF-8, a kind nobody knows.
 */
export function decodeMemory(bytes: Uint8Array): Memory {
  const reader = new Reader(bytes)
  reader.header()
  const nextId = reader.u64()
  const count = reader.u32()
  const entries: MemoryEntry[] = []
  while (entries.length < count) entries.push(readEntry(reader)) // ends with the bytes, whatever the count says
  reader.end()
  return { nextId, entries }
}

const MAGIC = 'CRMEM\0'
const VERSION = 1
const HEADER = Buffer.from([...Buffer.from(MAGIC), VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0])

/** By their numbers in the file. */
const KINDS: readonly MemoryKind[] = ['note', 'archive', 'topic']

function sizeOf({ name, content, aliases }: MemoryEntry): number {
  const texts = 8 + Buffer.byteLength(name) + Buffer.byteLength(content)
  return aliases.reduce((sum, alias) => sum + 4 + Buffer.byteLength(alias), texts + 24)
}

function writeEntry(writer: Writer, { id, createdAt, kind, name, content, aliases }: MemoryEntry): void {
  writer.u64(id)
  writer.u64(createdAt)
  writer.u32(KINDS.indexOf(kind))
  writer.text(name)
  writer.text(content)
  writer.u32(aliases.length)
  for (const alias of aliases) writer.text(alias)
}

function readEntry(reader: Reader): MemoryEntry {
  const id = reader.u64()
  const createdAt = reader.u64()
  const number = reader.u32()
  const kind = KINDS[number]
  if (kind === undefined) throw malformed(`an entry is of the unknown kind ${number}`)
  const name = reader.text()
  const content = reader.text()
  const aliases: string[] = []
  for (let left = reader.u32(); left > 0; left--) aliases.push(reader.text())
  return { id, createdAt, kind, name, content, aliases }
}

/** What stands in a text for bytes that are no UTF-8, or for itself. */
const REPLACEMENT = '\ufffd'

/** Writes from the front into one allocation. */
class Writer {
  readonly #bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
  }

  bytes(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  u32(value: number): void {
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
  }

  u64(value: bigint): void {
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at)
  }

  text(value: string): void {
    const length = this.#bytes.write(value, this.#at + 4)
    this.u32(length)
    this.#at += length
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }
}

/** Reads from the front; every read that would pass the end fails. */
class Reader {
  readonly #bytes: Buffer
  #at = 0
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  header(): void {
    const magic = this.#take(MAGIC.length).toString('latin1')
    if (magic !== MAGIC) throw malformed('it does not begin as one')
    const version = this.u32()
    if (version !== VERSION) throw malformed(`it is of version ${version}`)
    const flags = this.#take(2).readUInt16LE()
    if (flags !== 0) throw malformed(`it has the unknown flags ${flags}`)
    this.#take(4)
  }

  u32(): number {
    return this.#take(4).readUInt32LE()
  }

  u64(): bigint {
    return this.#take(8).readBigUInt64LE()
  }

  text(): string {
    const bytes = this.#take(this.u32())
    const text = bytes.toString() // many times as fast, and tells where it may have mended something
    if (!text.includes(REPLACEMENT)) return text
    try {
      return this.#decoder.decode(bytes)
    } catch (cause) {
      throw malformed('a text in it is no UTF-8', cause)
    }
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw malformed('bytes follow its last entry')
  }

  #take(length: number): Buffer {
    const start = this.#at
    if (length > this.#bytes.length - start) throw malformed('it is cut short')
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }
}

function malformed(why: string, cause?: unknown): CrabError {
  return new CrabError('invalid', `this is no memory file (CRMEM v1): ${why}`, { cause })
}
