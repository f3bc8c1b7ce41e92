import { CrabError } from '../base/errors.ts'
import type { CheckpointPart, NumberArray } from './checkpoint/types.ts'
import { sharedArray, withRoom } from './shared-arrays.ts'

/** The number of hash tables. There are several, so that growing one causes no noticeable pause. */
const TABLES = 64
const FIRST_SLOTS = 16
/** The number of terms prefetched together. */
const AHEAD = 64

/**
 * The terms of an index, mapped from bytes to ids that are dense from 0 and never removed; and for each term
 * the number of live documents that contain it.
 *
 * A slot of a table is two numbers: the hash, and the id + 1. Two terms may have the same hash; bytes are
 * compared.
 */
export class Dictionary {
  #size = 0
  #keys: Uint8Array = sharedArray(Uint8Array, 1024)
  /** The bytes of term `id` are `#keys` from `#starts[id]` to `#starts[id + 1]`. */
  #starts: Uint32Array = sharedArray(Uint32Array, 128)
  #hashes: Uint32Array = sharedArray(Uint32Array, 128)
  #tables = Array.from({ length: TABLES }, () => new Uint32Array(FIRST_SLOTS * 2))
  #filled = new Uint32Array(TABLES)
  #frequencies = new Uint32Array(128)
  readonly #ahead = new Uint32Array(AHEAD)

  get size(): number {
    return this.#size
  }

  /** The number of live documents by term id. Adding a term may replace the array. */
  get frequencies(): Uint32Array {
    return this.#frequencies
  }

  /** The size of all arrays together. */
  get bytes(): number {
    const arrays = [this.#keys, this.#starts, this.#hashes, this.#frequencies, ...this.#tables]
    return arrays.reduce((sum, array) => sum + array.byteLength, 0)
  }

  /** Returns the id of the bytes from `start` to `end` (exclusive); -1 when they are not a term yet. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const table = this.#tables[hash >>> 26]!
    return table[this.#slot(table, bytes, start, end, hash) + 1]! - 1
  }

  /** Returns the id of the bytes from `start` to `end` (exclusive), adding them as a term if they are new. */
  intern(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const table = this.#tables[hash >>> 26]!
    const slot = this.#slot(table, bytes, start, end, hash)
    const known = table[slot + 1]!
    if (known !== 0) return known - 1
    const id = this.#append(bytes, start, end, hash)
    table[slot] = hash
    table[slot + 1] = id + 1
    this.#enter(hash >>> 26)
    return id
  }

  /**
   * Prefetches the slots of these hashes for the calls of intern() that follow. The memory reads overlap,
   * which takes a fraction of the time of sequential lookups. The return value is meaningless; it keeps the
   * reads from being optimized away.
   */
  lookAhead(hashes: Uint32Array, count: number): number {
    const starts = this.#starts
    const keys = this.#keys
    const ids = this.#ahead
    let seen = 0
    for (let from = 0; from < count; from += AHEAD) {
      const to = Math.min(count, from + AHEAD)
      for (let i = from; i < to; i++) {
        const hash = hashes[i]!
        const table = this.#tables[hash >>> 26]!
        ids[i - from] = table[((hash << 1) & (table.length - 1)) + 1]!
      }
      for (let i = 0; i < to - from; i++) ids[i] = starts[ids[i]!]!
      for (let i = 0; i < to - from; i++) seen |= keys[ids[i]!]!
    }
    return seen
  }

  /** Returns the slot that holds a term, or the empty slot it would take. */
  #slot(table: Uint32Array, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const keys = this.#keys
    const starts = this.#starts
    const mask = table.length - 1
    let slot = (hash << 1) & mask
    for (;;) {
      const value = table[slot + 1]!
      if (value === 0) return slot
      if (table[slot] === hash) {
        const at = starts[value - 1]!
        if (starts[value]! - at === end - start && areSame(keys, at, bytes, start, end)) return slot
      }
      slot = (slot + 2) & mask
    }
  }

  #append(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const id = this.#size++
    const at = this.#starts[id]!
    const length = end - start
    this.#keys = withRoom(this.#keys, at + length)
    this.#starts = withRoom(this.#starts, id + 2)
    this.#hashes = withRoom(this.#hashes, id + 1)
    for (let i = 0; i < length; i++) this.#keys[at + i] = bytes[start + i]!
    this.#starts[id + 1] = at + length
    this.#hashes[id] = hash
    if (id === this.#frequencies.length) {
      const longer = new Uint32Array(id * 2)
      longer.set(this.#frequencies)
      this.#frequencies = longer
    }
    return id
  }

  /** Counts a filled slot and doubles the table when more than three fifths of its slots are filled. */
  #enter(index: number): void {
    const table = this.#tables[index]!
    this.#filled[index]!++
    if (this.#filled[index]! * 10 <= table.length * 3) return
    const larger = new Uint32Array(table.length * 2)
    for (let slot = 0; slot < table.length; slot += 2) {
      if (table[slot + 1] !== 0) put(larger, table[slot]!, table[slot + 1]!)
    }
    this.#tables[index] = larger
  }

  /** Returns a snapshot; terms added later do not change its arrays. */
  toPart(): CheckpointPart {
    const end = this.#starts[this.#size]!
    return {
      facts: { terms: this.#size },
      arrays: {
        keys: this.#keys.subarray(0, end),
        starts: this.#starts.subarray(0, this.#size + 1),
        hashes: this.#hashes.subarray(0, this.#size),
      },
    }
  }

  /**
   * Restores a dictionary from toPart(), with all frequencies 0. Throws `invalid` when the arrays do not fit
   * each other.
   */
  static fromPart({ facts, arrays: { keys, starts, hashes } }: CheckpointPart): Dictionary {
    const size = facts['terms'] ?? -1
    if (!isDictionary({ size, keys, starts, hashes })) {
      throw new CrabError(
        'invalid',
        'Cannot read the dictionary of an index: its arrays do not fit each other',
      )
    }
    const dictionary = new Dictionary()
    dictionary.#size = size
    dictionary.#keys = keys as Uint8Array
    dictionary.#starts = starts as Uint32Array
    dictionary.#hashes = hashes as Uint32Array
    dictionary.#frequencies = new Uint32Array(Math.max(128, size))
    dictionary.#fillTables()
    return dictionary
  }

  #fillTables(): void {
    const filled = new Uint32Array(TABLES)
    for (let id = 0; id < this.#size; id++) filled[this.#hashes[id]! >>> 26]!++
    this.#filled = filled
    this.#tables = Array.from(filled, (count) => {
      const slots = 2 ** Math.ceil(Math.log2(Math.max(FIRST_SLOTS, count * 2)))
      return new Uint32Array(slots * 2)
    })
    for (let id = 0; id < this.#size; id++) {
      const hash = this.#hashes[id]!
      put(this.#tables[hash >>> 26]!, hash, id + 1)
    }
  }
}

function areSame(keys: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start, key = at; i < end; i++, key++) if (keys[key] !== bytes[i]) return false
  return true
}

function put(table: Uint32Array, hash: number, value: number): void {
  const mask = table.length - 1
  let slot = (hash << 1) & mask
  while (table[slot + 1] !== 0) slot = (slot + 2) & mask
  table[slot] = hash
  table[slot + 1] = value
}

function isDictionary(saved: {
  size: number
  keys: NumberArray | undefined
  starts: NumberArray | undefined
  hashes: NumberArray | undefined
}): boolean {
  const { size, keys, starts, hashes } = saved
  if (!(keys instanceof Uint8Array && starts instanceof Uint32Array && hashes instanceof Uint32Array))
    return false
  if (!Number.isSafeInteger(size) || starts.length !== size + 1 || hashes.length !== size) return false
  if (starts[0] !== 0 || starts[size] !== keys.length) return false
  for (let id = 0; id < size; id++) if (starts[id]! > starts[id + 1]!) return false
  return true
}
