import type { Pair } from '../../storage/types.ts'
import { Journal } from './journal.ts'

interface Entry {
  journal: Journal
  /** Turns on it now. */
  running: number
  /** Who needs it, those turns included: then it is not forgotten. */
  users: number
}

/** The journals of all conversations of a process that something happened to lately, or that somebody follows. */
export class Journals {
  /** Longest unused first. */
  readonly #entries = new Map<string, Entry>()
  /** The highest count of those that were forgotten: who comes back with one must not be taken to have missed nothing. */
  #from = 0

  /** The journal of a pair that somebody is about to follow, made where there is none; it stays until that is disposed. */
  followed(pair: Pair): { journal: Journal } & Disposable {
    const entry = this.#used(pair)
    return { journal: entry.journal, [Symbol.dispose]: () => this.#left(entry) }
  }

  /** The journal of a pair that something is about to happen to; it is kept whole until that is disposed. */
  running(pair: Pair): { journal: Journal } & Disposable {
    const entry = this.#used(pair)
    entry.running++
    return {
      journal: entry.journal,
      [Symbol.dispose]: () => {
        entry.running--
        this.#left(entry)
      },
    }
  }

  /** Tells those who follow a pair that it is not as they know it. */
  changed(pair: Pair): void {
    this.#entries.get(toKey(pair))?.journal.append({ type: 'changed' })
  }

  #used(pair: Pair): Entry {
    const key = toKey(pair)
    const found = this.#entries.get(key)
    const fresh = () => new Journal({ maxBytes: RUNNING_BYTES, from: this.#from })
    const entry = found ?? { journal: fresh(), running: 0, users: 0 }
    entry.users++
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  #left(entry: Entry): void {
    entry.users--
    if (entry.running === 0) entry.journal.trim(IDLE_BYTES)
    if (this.#entries.size <= MAX_JOURNALS) return
    for (const [key, { users, journal }] of this.#entries) {
      if (users === 0) {
        this.#from = Math.max(this.#from, journal.seq)
        this.#entries.delete(key)
      }
      if (this.#entries.size <= MAX_JOURNALS) return
    }
  }
}

function toKey({ agentId, sender }: Pair): string {
  return `${agentId}\0${sender}`
}

/** Of a conversation on which a turn runs: a long answer with large tool results. */
const RUNNING_BYTES = 4 * 1024 * 1024
/** Of one on which nothing runs, for clients that come back. */
const IDLE_BYTES = 128 * 1024
/** Those in use come on top. */
const MAX_JOURNALS = 128
