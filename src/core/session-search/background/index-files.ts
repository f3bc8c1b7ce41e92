import { setImmediate as breathe } from 'node:timers/promises'
import type { TextIndex } from '../../search/text-index.ts'
import { DOCUMENT_KINDS } from '../types.ts'
import type { BackgroundJobs, FileToRead, ReadBatch, ReadFile } from './types.ts'

/** The files to index, and where their documents go. */
export interface IndexFilesOptions {
  background: Pick<BackgroundJobs, 'readFiles'>
  index: TextIndex
  files: readonly FileToRead[]
  /**
   * Called when all documents of a file are in the index; not called for unfinished files when indexFiles()
   * throws.
   */
  onFile: (file: ReadFile) => void
}

/**
 * Adds the contents of session files to an index; a title or summary replaces the previous one. This thread
 * works in slices of a few milliseconds; searches between them find what is already added.
 *
 * No other caller may add documents of these files meanwhile.
 */
export async function indexFiles(
  { background, index, files, onFile }: IndexFilesOptions,
  signal: AbortSignal,
): Promise<void> {
  const grown = new Set(files.filter(({ since }) => since).map(({ group }) => group))
  const appender = new Appender(index, grown)
  for await (const batch of background.readFiles(files, signal)) {
    for (const _ of appender.slices(batch)) {
      await breathe()
      signal.throwIfAborted()
    }
    for (const file of batch.files) onFile(file)
  }
}

class Appender {
  readonly #index: TextIndex
  /** The groups that may already have a title and a summary. */
  readonly #grown: ReadonlySet<number>
  /** Maps the run's term numbers to term ids of the index. */
  #ids = new Uint32Array(4096)
  #size = 0

  constructor(index: TextIndex, grown: ReadonlySet<number>) {
    this.#index = index
    this.#grown = grown
  }

  /** Adds a batch, yielding after each slice. */
  *slices(batch: ReadBatch): Generator<void> {
    yield* this.#intern(batch)
    const { counts } = batch
    let from = 0
    let work = 0
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!
      this.#append(batch, i, from)
      from += count
      work += count + COST_OF_DOCUMENT
      if (work < SLICE) continue
      work = 0
      yield
    }
  }

  #append({ groups, kinds, seqs, offsets, times, counts, terms }: ReadBatch, i: number, from: number): void {
    const [group, kind, count] = [groups[i]!, kinds[i]!, counts[i]!]
    const isDescription = kind === TITLE || kind === SUMMARY
    if (isDescription && this.#grown.has(group)) this.#index.removeDocuments(group, kind)
    if (isDescription && count === 0) return
    const row = { group, kind, seq: seqs[i]!, offset: offsets[i]!, time: times[i]! }
    const ids = this.#ids
    for (let at = from; at < from + count; at++) terms[at] = ids[terms[at]!]!
    this.#index.addTerms(row, terms, from, count)
  }

  *#intern({ isFirst, keys, keyLengths, keyHashes }: ReadBatch): Generator<void> {
    if (isFirst) this.#size = 0
    this.#makeRoom(keyLengths.length)
    let from = 0
    for (let i = 0; i < keyLengths.length; i++) {
      const length = keyLengths[i]!
      this.#ids[this.#size++] = this.#index.internTerm(keys, from, length, keyHashes[i]!)
      from += length
      if (i % KEYS_OF_SLICE === KEYS_OF_SLICE - 1) yield
    }
  }

  #makeRoom(terms: number): void {
    const needed = this.#size + terms
    if (needed <= this.#ids.length) return
    const longer = new Uint32Array(Math.max(needed, this.#ids.length * 2))
    longer.set(this.#ids)
    this.#ids = longer
  }
}

const TITLE = DOCUMENT_KINDS.indexOf('title')
const SUMMARY = DOCUMENT_KINDS.indexOf('summary')
/** The terms added before yielding to other work, and the cost of a document in terms. */
const SLICE = 8192
const COST_OF_DOCUMENT = 16
const KEYS_OF_SLICE = 1024
