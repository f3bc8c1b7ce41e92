import type { FileToRead, ReadBatch, ReadFile } from './types.ts'

/** Which files batches have ended, and whether the last one ended in the middle of one. */
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

  /** Files of which nothing came. */
  get left(): readonly FileToRead[] {
    return this.#files.slice(this.#isInside ? this.#ended + 1 : this.#ended)
  }

  /** The file that was broken off, if one was. */
  get broken(): ReadFile | undefined {
    const file = this.#isInside ? this.#files[this.#ended] : undefined
    return file && changedFile(file.group)
  }
}

/** A file of which nothing that was read is of use. */
export function changedFile(group: number): ReadFile {
  return { group, header: undefined, cursor: { bytes: 0, seq: 0 }, stamp: undefined, changed: true }
}
