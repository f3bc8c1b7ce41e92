import { FORMAT_VERSION, MAGIC, MEMORY_KINDS } from './format.ts'
import type { EncodedMemory, Memory, MemoryEntry } from './types.ts'

/**
 * Encodes a memory as a CRMEM v1 file (ADR 0126), its entries sorted by id. Repairs text that is not valid
 * Unicode.
 *
 * Entries that are the same objects as in `before` are copied from its bytes, which is many times as fast.
 */
export function encodeMemory({ nextId, entries }: Memory, before: EncodedMemory = NOTHING): EncodedMemory {
  const sorted = isSorted(entries) ? entries : entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const unchanged = findUnchanged(sorted, before.memory.entries)
  const starts = [HEADER.length + 12, ...before.ends]
  const sizes = sorted.map((entry, index) => {
    const old = unchanged[index]!
    return old < 0 ? entrySize(entry) : starts[old + 1]! - starts[old]!
  })
  const writer = new Writer(
    sizes.reduce((sum, size) => sum + size, HEADER.length + 12),
    before.bytes,
  )
  writer.bytes(HEADER)
  writer.u64(nextId)
  writer.u32(sorted.length)
  let end = HEADER.length + 12
  const ends = sorted.map((entry, index) => {
    const old = unchanged[index]!
    if (old < 0) writeEntry(writer, entry)
    else writer.copy(starts[old]!, starts[old + 1]!)
    end += sizes[index]!
    return end
  })
  return { memory: { nextId, entries: sorted }, bytes: writer.done(), ends }
}

const HEADER = Buffer.from([...Buffer.from(MAGIC), FORMAT_VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0])
const NOTHING: EncodedMemory = { memory: { nextId: 1n, entries: [] }, bytes: Buffer.alloc(0), ends: [] }

function isSorted(entries: readonly MemoryEntry[]): boolean {
  return entries.every((entry, index) => index === 0 || entries[index - 1]!.id < entry.id)
}

/** Returns the index of each entry in `before`; -1 for a new or changed entry. Both lists are sorted by id. */
function findUnchanged(entries: readonly MemoryEntry[], before: readonly MemoryEntry[]): number[] {
  let at = 0
  return entries.map((entry) => {
    while (at < before.length && before[at]!.id < entry.id) at++
    return before[at] === entry ? at : -1
  })
}

function entrySize({ name, content, aliases }: MemoryEntry): number {
  const texts = 8 + Buffer.byteLength(name) + Buffer.byteLength(content)
  return aliases.reduce((sum, alias) => sum + 4 + Buffer.byteLength(alias), texts + 24)
}

function writeEntry(writer: Writer, { id, createdAt, kind, name, content, aliases }: MemoryEntry): void {
  writer.u64(id)
  writer.u64(createdAt)
  writer.u32(MEMORY_KINDS.indexOf(kind))
  writer.text(name)
  writer.text(content)
  writer.u32(aliases.length)
  for (const alias of aliases) writer.text(alias)
}

/** Writes sequentially into one allocation. */
class Writer {
  readonly #bytes: Buffer
  readonly #source: Buffer
  #at = 0
  /** The pending range to copy from the source; adjacent ranges are merged into one copy. */
  #from = 0
  #to = 0

  constructor(size: number, source: Buffer) {
    this.#bytes = Buffer.allocUnsafe(size)
    this.#source = source
  }

  bytes(bytes: Uint8Array): void {
    this.#flush()
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  u32(value: number): void {
    this.#flush()
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
  }

  u64(value: bigint): void {
    this.#flush()
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at)
  }

  text(value: string): void {
    this.#flush()
    const length = this.#bytes.write(value, this.#at + 4)
    this.u32(length)
    this.#at += length
  }

  copy(from: number, to: number): void {
    if (from !== this.#to) this.#flush()
    if (this.#from === this.#to) this.#from = from
    this.#to = to
  }

  done(): Buffer {
    this.#flush()
    return this.#bytes
  }

  #flush(): void {
    this.#at += this.#source.copy(this.#bytes, this.#at, this.#from, this.#to)
    this.#from = this.#to
  }
}
