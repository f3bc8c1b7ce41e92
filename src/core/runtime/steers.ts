import type { NewLine } from '../storage/types.ts'

/**
 * What is said to a running turn, in order, until the turn takes it up or gives it back.
 *
 * Whatever `add` has accepted comes out exactly once: through `takeUp`, which stores it, or through `giveBack`.
 */
export class Steers {
  readonly #waiting: string[] = []
  readonly #preprocess: (content: string) => Promise<string>
  #isOpen = true

  /** `preprocess` makes of what was typed what the model reads. */
  constructor(preprocess: (content: string) => Promise<string>) {
    this.#preprocess = preprocess
  }

  /** False, and nothing done, once the turn takes no more. */
  add(content: string): boolean {
    if (this.#isOpen) this.#waiting.push(content)
    return this.#isOpen
  }

  /** Stores what waits as messages of the user, in one append, and gives it as it was typed; it waits on if that fails. */
  async takeUp(append: (lines: readonly NewLine[]) => Promise<void>): Promise<readonly string[]> {
    const taken = [...this.#waiting]
    if (taken.length === 0) return taken
    const lines = await Promise.all(taken.map((content) => this.#toLines(content)))
    await append(lines.flat())
    this.#waiting.splice(0, taken.length)
    return taken
  }

  /** Takes no more unless something waits; says whether that was done. */
  closeIfEmpty(): boolean {
    if (this.#waiting.length === 0) this.#isOpen = false
    return !this.#isOpen
  }

  /** Takes no more. */
  close(): void {
    this.#isOpen = false
  }

  /** Takes no more, and gives back the oldest that still waits. */
  giveBack(): string | undefined {
    this.#isOpen = false
    return this.#waiting.shift()
  }

  /** The message is what counts; the event only says that it was a steer, and how it was typed. */
  async #toLines(content: string): Promise<NewLine[]> {
    return [
      { kind: 'event', event: 'user_steered', content },
      { kind: 'entry', role: 'user', content: await this.#preprocess(content) },
    ]
  }
}
