import { CrabError } from '../base/errors.ts'
import { FORMAT_VERSION, MAGIC, MEMORY_KINDS } from './format.ts'
import type { EncodedMemory, MemoryEntry } from './types.ts'

/**
 * Decodes a CRMEM v1 file.
 *
 * Throws `invalid` for anything that is not exactly one complete memory: another magic, version or flag, a
 * length that does not fit, trailing bytes, text that is not UTF-8, an unknown kind.
 */
export function decodeMemory(bytes: Buffer): EncodedMemory {
  const reader = new Reader(bytes)
  reader.header()
  const nextId = reader.u64()
  const count = reader.u32()
  const entries: MemoryEntry[] = []
  const ends: number[] = []
  while (entries.length < count) {
    entries.push(readEntry(reader)) // throws at the end of the bytes, so a false count cannot exhaust memory
    ends.push(reader.at)
  }
  reader.end()
  return { memory: { nextId, entries }, bytes, ends }
}

function readEntry(reader: Reader): MemoryEntry {
  const id = reader.u64()
  const createdAt = reader.u64()
  const number = reader.u32()
  const kind = MEMORY_KINDS[number]
  if (kind === undefined) throw malformed(`an entry has the unknown kind ${number}`)
  const name = reader.text()
  const content = reader.text()
  const aliases: string[] = []
  for (let left = reader.u32(); left > 0; left--) aliases.push(reader.text())
  return { id, createdAt, kind, name, content, aliases }
}

/** The replacement for invalid UTF-8, which may also occur in valid text. */
const REPLACEMENT = '\ufffd'

/** Reads sequentially; a read past the end throws. */
class Reader {
  readonly #bytes: Buffer
  #at = 0
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The position of the next read. */
  get at(): number {
    return this.#at
  }

  header(): void {
    const magic = this.#take(MAGIC.length).toString('latin1')
    if (magic !== MAGIC) throw malformed('it does not start like one')
    const version = this.u32()
    if (version !== FORMAT_VERSION) throw malformed(`it has version ${version}`)
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
    // many times as fast as the decoder; invalid text contains the replacement character
    const text = bytes.toString()
    if (!text.includes(REPLACEMENT)) return text
    try {
      return this.#decoder.decode(bytes)
    } catch (cause) {
      throw malformed('a text in it is not UTF-8', cause)
    }
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw malformed('bytes follow its last entry')
  }

  #take(length: number): Buffer {
    const start = this.#at
    if (length > this.#bytes.length - start) throw malformed('it is truncated')
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }
}

function malformed(why: string, cause?: unknown): CrabError {
  return new CrabError('invalid', `this is not a memory file (CRMEM v1): ${why}`, { cause })
}
