import { Dictionary } from '../../search/dictionary.ts'
import { TermBuffer } from '../../search/terms/term-buffer.ts'
import type { DocumentRow } from '../../search/types.ts'
import type { ReadBatch, ReadFile } from './types.ts'

/** Builds the batches of one run. */
export class BatchBuilder {
  readonly #buffer = new TermBuffer()
  readonly #dictionary = new Dictionary()
  /** The number of terms already sent in earlier batches. */
  #known = 0
  #isFirst = true
  #rows: DocumentRow[] = []
  #counts: number[] = []
  #files: ReadFile[] = []
  #terms = new Uint32Array(2 * BATCH_TERMS)
  #used = 0

  /** Whether take() is due. */
  get isFull(): boolean {
    return (
      this.#used >= BATCH_TERMS || this.#rows.length >= BATCH_DOCUMENTS || this.#files.length >= BATCH_FILES
    )
  }

  add(row: DocumentRow, text: string): void {
    const buffer = this.#buffer
    buffer.fill(text, 'document')
    this.#makeRoom(buffer.count)
    this.#dictionary.lookAhead(buffer.hashes, buffer.count)
    for (let i = 0; i < buffer.count; i++) {
      const id = this.#dictionary.intern(buffer.bytes, buffer.starts[i]!, buffer.ends[i]!, buffer.hashes[i]!)
      this.#terms[this.#used++] = id
    }
    this.#rows.push(row)
    this.#counts.push(buffer.count)
  }

  end(file: ReadFile): void {
    this.#files.push(file)
  }

  /** Returns what was added since the last batch; undefined when that is nothing. */
  take(): ReadBatch | undefined {
    if (this.#rows.length === 0 && this.#files.length === 0) return undefined
    const rows = this.#rows
    const batch: ReadBatch = {
      isFirst: this.#isFirst,
      ...this.#takeKeys(),
      groups: Uint32Array.from(rows, ({ group }) => group),
      kinds: Uint8Array.from(rows, ({ kind }) => kind),
      seqs: Uint32Array.from(rows, ({ seq }) => seq),
      offsets: Uint32Array.from(rows, ({ offset }) => offset),
      times: Float64Array.from(rows, ({ time }) => time),
      counts: Uint32Array.from(this.#counts),
      terms: this.#terms.slice(0, this.#used),
      files: this.#files,
    }
    this.#rows = []
    this.#counts = []
    this.#files = []
    this.#used = 0
    this.#isFirst = false
    return batch
  }

  #takeKeys(): Pick<ReadBatch, 'keys' | 'keyLengths' | 'keyHashes'> {
    const { keys, starts, hashes } = this.#dictionary.toPart().arrays
    const from = this.#known
    const to = this.#dictionary.size
    this.#known = to
    return {
      keys: (keys as Uint8Array).slice(starts![from], starts![to]),
      keyLengths: Uint8Array.from(
        { length: to - from },
        (_, i) => starts![from + i + 1]! - starts![from + i]!,
      ),
      keyHashes: (hashes as Uint32Array).slice(from, to),
    }
  }

  #makeRoom(terms: number): void {
    const needed = this.#used + terms
    if (needed <= this.#terms.length) return
    const longer = new Uint32Array(Math.max(needed, this.#terms.length * 2))
    longer.set(this.#terms)
    this.#terms = longer
  }
}

const BATCH_TERMS = 65_536
const BATCH_DOCUMENTS = 4096
const BATCH_FILES = 256
