import type { FileToRead, ReadBatch, ReadFile } from './types.ts'

/** Tracks which files the batches have completed, and whether the last batch ended inside a file. */
export class ReadProgress {
  readonly #files: readonly FileToRead[]
  #ended = 0
  #isInside = false

  constructor(files: readonly FileToRead[]) {
    this.#files = files
  }

  add({ files, groups }: ReadBatch): void {
    this.#ended += files.length
    const isOfOpen = groups.length > 0 && groups.at(-1) === this.#files[this.#ended]?.group
    this.#isInside = isOfOpen || (this.#isInside && files.length === 0)
  }

  /** The files of which nothing has arrived. */
  get left(): readonly FileToRead[] {
    return this.#files.slice(this.#isInside ? this.#ended + 1 : this.#ended)
  }

  /** The file whose reading was interrupted, if any. */
  get broken(): ReadFile | undefined {
    const file = this.#isInside ? this.#files[this.#ended] : undefined
    return file && changedFile(file.group)
  }
}

/** Returns the result for a file whose documents have to be discarded. */
export function changedFile(group: number): ReadFile {
  return { group, header: undefined, cursor: { bytes: 0, seq: 0 }, stamp: undefined, changed: true }
}
