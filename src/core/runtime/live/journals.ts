import type { Pair } from '../../storage/types.ts'
import { Journal } from './journal.ts'

/** The journals of all conversations of a process that something happened to lately, or that somebody follows. */
export class Journals {
  /** Longest unused first. */
  readonly #journals = new Map<string, { journal: Journal; running: number }>()

  /** The journal of a pair, made where there is none. */
  of(pair: Pair): Journal {
    const key = keyOf(pair)
    const found = this.#journals.get(key) ?? { journal: new Journal({ maxBytes: RUNNING_BYTES }), running: 0 }
    this.#journals.delete(key)
    this.#journals.set(key, found)
    this.#forgetUnused()
    return found.journal
  }

  /** The journal of a pair that something is about to happen to; it is kept whole until that is disposed. */
  running(pair: Pair): { journal: Journal } & Disposable {
    const journal = this.of(pair)
    const entry = this.#journals.get(keyOf(pair))!
    entry.running++
    return {
      journal,
      [Symbol.dispose]: () => {
        if (--entry.running === 0) journal.trim(IDLE_BYTES)
      },
    }
  }

  /** Tells those who follow a pair that it is not as they know it. */
  changed(pair: Pair): void {
    this.#journals.get(keyOf(pair))?.journal.tell({ type: 'changed' })
  }

  #forgetUnused(): void {
    if (this.#journals.size <= MAX_JOURNALS) return
    for (const [key, { journal, running }] of this.#journals) {
      if (running === 0 && journal.readers === 0) this.#journals.delete(key)
      if (this.#journals.size <= MAX_JOURNALS) return
    }
  }
}

function keyOf({ agentId, sender }: Pair): string {
  return `${agentId}\0${sender}`
}

/** Of a conversation on which a turn runs: a long answer with large tool results. */
const RUNNING_BYTES = 4 * 1024 * 1024
/** Of one on which nothing runs, for clients that come back. */
const IDLE_BYTES = 128 * 1024
/** Those in use come on top. */
const MAX_JOURNALS = 128
