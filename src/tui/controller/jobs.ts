import type { ChatStore } from '../state/store.ts'

/** A running slash command. */
interface Job {
  stop: AbortController
  ended: Promise<void>
}

/** The running slash commands. */
export class Jobs {
  readonly #store: ChatStore
  readonly #signal: AbortSignal
  readonly #running = new Set<Job>()

  constructor(store: ChatStore, signal: AbortSignal) {
    this.#store = store
    this.#signal = signal
  }

  /** Runs a job; resolves with whether it was interrupted and rejects with its failure. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<'done' | 'interrupted'> {
    const stop = new AbortController()
    const done = work(AbortSignal.any([stop.signal, this.#signal]))
    const job = { stop, ended: done.catch(() => undefined) } // the caller of `run` gets the error
    this.#running.add(job)
    this.#show()
    try {
      await done
      return 'done'
    } catch (reason) {
      if (!stop.signal.aborted) throw reason
      return 'interrupted'
    } finally {
      stop.abort()
      this.#running.delete(job)
      this.#show()
    }
  }

  /** Interrupts the job that started last, of those that are not interrupted yet. */
  interrupt(): void {
    const newest = [...this.#running].findLast(({ stop }) => !stop.signal.aborted)
    newest?.stop.abort()
  }

  /** Interrupts all jobs and waits until they have ended. */
  async end(): Promise<void> {
    for (const { stop } of this.#running) stop.abort()
    await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  #show(): void {
    const isCommanding = this.#running.size > 0
    if (this.#store.get().isCommanding !== isCommanding) {
      this.#store.act({ type: 'set', change: { isCommanding } })
    }
  }
}
