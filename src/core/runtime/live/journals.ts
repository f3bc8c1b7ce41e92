import type { Pair } from '../../storage/types.ts'
import { Journal } from './journal.ts'

interface Entry {
  journal: Journal
  /** The number of turns on it now. */
  running: number
  /** The number of followers and turns that use it; a journal in use is not evicted. */
  users: number
}

/** The journals of all conversations of a process that were active lately or are being followed. */
export class Journals {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()
  /**
   * The highest `seq` of all evicted journals. A new journal counts on from it, so that a client that returns
   * with an old `seq` is not taken to have missed nothing.
   */
  #from = 0

  /**
   * Returns the journal of a pair for a follower, creating it if needed; it stays until the result is
   * disposed.
   */
  followed(pair: Pair): { journal: Journal } & Disposable {
    const entry = this.#used(pair)
    return { journal: entry.journal, [Symbol.dispose]: () => this.#left(entry) }
  }

  /** Returns the journal of a pair for a turn; it is not trimmed until the result is disposed. */
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

  /** Notifies the followers of a pair that its state has changed. */
  changed(pair: Pair): void {
    this.#entries.get(toKey(pair))?.journal.append({ type: 'changed' })
  }

  /** Notifies the followers of a pair that their number has changed. */
  followersChanged(pair: Pair): void {
    this.#entries.get(toKey(pair))?.journal.append({ type: 'changed', isFollowers: true })
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

/** The limit while a turn runs: a long answer with large tool results. */
const RUNNING_BYTES = 4 * 1024 * 1024
/** The limit while nothing runs, for clients that reconnect. */
const IDLE_BYTES = 128 * 1024
/** The most journals that are not in use. */
const MAX_JOURNALS = 128
