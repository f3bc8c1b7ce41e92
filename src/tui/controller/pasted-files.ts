import type { AttachedFile } from '../ports.ts'

/** Files pasted from the clipboard, by the label that stands for each in a message, until they are sent. */
export class PastedFiles {
  readonly #files = new Map<string, AttachedFile>()
  #count = 0

  /** Stores a file and returns its label, which is never used twice. */
  add(file: AttachedFile): string {
    const label = `[Image ${++this.#count}]`
    this.#files.set(label, file)
    return label
  }

  /** Returns the files whose labels occur in a text. */
  in(text: string): AttachedFile[] {
    return [...this.#files].filter(([label]) => text.includes(label)).map(([, file]) => file)
  }

  /** Removes the files whose labels occur in a text that was sent. */
  sent(text: string): void {
    for (const label of this.#files.keys()) if (text.includes(label)) this.#files.delete(label)
  }
}
