import { CrabError } from '../base/errors.ts'
import type { NewLine } from '../storage/types.ts'
import type { Preprocess } from './preprocess.ts'

/**
 * What is said to a running turn, in order, until the turn takes it up or gives it back.
 *
 * Whatever `add` has accepted comes out exactly once: through `takeUp`, which stores it, or through `giveBack`. At most 64 wait,
 * of 1 MiB in all.
 */
export class Steers {
  readonly #waiting: string[] = []
  readonly #preprocess: Preprocess
  #isOpen = true

  /** `preprocess` makes of what was typed what the model reads. */
  constructor(preprocess: Preprocess) {
    this.#preprocess = preprocess
  }

  /** False, and nothing done, once the turn takes no more. Throws `conflict` while too much waits. */
  add(content: string): boolean {
    if (!this.#isOpen) return false
    const all = [...this.#waiting, content]
    const bytes = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    if (all.length > MAX_STEERS || bytes > MAX_BYTES) throw tooMuch()
    this.#waiting.push(content)
    return true
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
      { kind: 'entry', role: 'user', ...(await this.#preprocess(content)) },
    ]
  }
}

const MAX_STEERS = 64
const MAX_BYTES = 1024 * 1024

function tooMuch(): CrabError {
  return new CrabError('conflict', 'Cannot steer the turn: too much waits to be read already', {
    hint: 'wait until the turn has read it, or send it as a message',
  })
}
