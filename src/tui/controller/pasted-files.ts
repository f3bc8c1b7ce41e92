import type { AttachedFile } from '../ports.ts'

/** Files from the clipboard, by the label that stands for each in a message, until they are sent. */
export class PastedFiles {
  readonly #files = new Map<string, AttachedFile>()
  #count = 0

  /** Keeps a file; gives its label, which no other one has had. */
  add(file: AttachedFile): string {
    const label = `[Image ${++this.#count}]`
    this.#files.set(label, file)
    return label
  }

  /** Those that a text names. */
  in(text: string): AttachedFile[] {
    return [...this.#files].filter(([label]) => text.includes(label)).map(([, file]) => file)
  }

  /** A text has been sent with the files it names. */
  sent(text: string): void {
    for (const label of this.#files.keys()) if (text.includes(label)) this.#files.delete(label)
  }
}
