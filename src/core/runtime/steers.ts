import { CrabError } from '../base/errors.ts'
import type { NewLine } from '../storage/types.ts'
import type { Preprocess } from './preprocess.ts'

/**
 * The steering messages of a running turn, in order, until the turn takes them up or returns them.
 *
 * Every message that `add` accepts comes out exactly once: through `takeUp`, which stores it, or through
 * `giveBack`. At most 64 messages wait, of 1 MiB in all (ADR 0086).
 */
export class Steers {
  readonly #waiting: string[] = []
  readonly #preprocess: Preprocess
  #isOpen = true

  /** `preprocess` turns typed text into what the model reads. */
  constructor(preprocess: Preprocess) {
    this.#preprocess = preprocess
  }

  /**
   * Queues a message. Returns false and does nothing once the turn accepts no more. Throws `conflict` while
   * the queue is full.
   */
  add(content: string): boolean {
    if (!this.#isOpen) return false
    const all = [...this.#waiting, content]
    const bytes = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    if (all.length > MAX_STEERS || bytes > MAX_BYTES) throw tooMuch()
    this.#waiting.push(content)
    return true
  }

  /**
   * Stores the queued messages as user messages, in one append, and returns them as they were typed; they
   * stay queued if that fails.
   */
  async takeUp(append: (lines: readonly NewLine[]) => Promise<void>): Promise<readonly string[]> {
    const taken = [...this.#waiting]
    if (taken.length === 0) return taken
    const lines = await Promise.all(taken.map((content) => this.#toLines(content)))
    await append(lines.flat())
    this.#waiting.splice(0, taken.length)
    return taken
  }

  /** Stops accepting messages if none is queued; returns whether no more are accepted. */
  closeIfEmpty(): boolean {
    if (this.#waiting.length === 0) this.#isOpen = false
    return !this.#isOpen
  }

  /** Stops accepting messages. */
  close(): void {
    this.#isOpen = false
  }

  /** Stops accepting messages, and removes and returns the oldest queued one. */
  giveBack(): string | undefined {
    this.#isOpen = false
    return this.#waiting.shift()
  }

  /** The model reads the entry; the event only records that it was a steer, and how it was typed. */
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
  return new CrabError('conflict', 'Cannot steer the turn: too much is queued already', {
    hint: 'wait until the turn has read it, or send it as a message',
  })
}
