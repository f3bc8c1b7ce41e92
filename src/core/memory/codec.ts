import { CrabError } from '../base/errors.ts'
import type { Memory, MemoryEntry, MemoryKind } from './types.ts'

/** A memory as a CRMEM v1 file (RFC 0150), its entries by id. Text that is no valid Unicode is mended. */
export function encodeMemory({ nextId, entries }: Memory): Buffer {
  const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return Buffer.concat([HEADER, u64(nextId), u32(sorted.length), ...sorted.flatMap(encodeEntry)])
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

function encodeEntry({ id, createdAt, kind, name, content, aliases }: MemoryEntry): Buffer[] {
  return [
    u64(id),
    u64(createdAt),
    u32(KINDS.indexOf(kind)),
    ...text(name),
    ...text(content),
    u32(aliases.length),
    ...aliases.flatMap(text),
  ]
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

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function text(value: string): Buffer[] {
  const bytes = Buffer.from(value)
  return [u32(bytes.length), bytes]
}
