import { abortable } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'
import type { EndEvent, RunEnd, TurnRun } from './run.ts'

interface Entry {
  run: TurnRun
  ended: PromiseWithResolvers<RunEnd>
}

/** The runs of a process by id: all that have not ended, and the latest of those that have. */
export class Runs {
  readonly #entries = new Map<string, Entry>()
  /** The ids of the ended runs, oldest first. */
  readonly #ended: string[] = []
  #chars = 0

  /** Throws `conflict` for an id that is taken. */
  add(run: TurnRun): void {
    if (this.#entries.has(run.id))
      throw new CrabError('conflict', `Cannot start run ${run.id}: this id is taken`)
    const ended = Promise.withResolvers<RunEnd>()
    ended.promise.catch(() => {}) // without a waiter, the rejection would be unhandled
    this.#entries.set(run.id, { run, ended })
  }

  end(run: TurnRun, end: EndEvent): void {
    run.end = end
    this.#entries.get(run.id)?.ended.resolve({ run, end })
    this.#ended.push(run.id)
    this.#chars += run.summary.text.length
    while (this.#ended.length > MAX_ENDED || (this.#chars > MAX_CHARS && this.#ended.length > 1))
      this.#forget()
  }

  /** Rejects a run that never started, and removes it. */
  refuse(run: TurnRun, reason: CrabError): void {
    this.#entries.get(run.id)?.ended.reject(reason)
    this.#entries.delete(run.id)
  }

  /**
   * Waits for a run to end. Throws the reason it was refused with, or `missing` for an unknown or evicted
   * run.
   */
  async wait(id: string, signal: AbortSignal): Promise<RunEnd> {
    return await abortable(this.#known(id).ended.promise, signal)
  }

  /** Returns the current state of a run. Throws `missing` for an unknown or evicted run. */
  get(id: string): TurnRun {
    return this.#known(id).run
  }

  /** Returns the runs that have not ended, oldest first. */
  running(): TurnRun[] {
    return [...this.#entries.values()].flatMap(({ run }) => (run.end ? [] : [run]))
  }

  #known(id: string): Entry {
    const entry = this.#entries.get(id)
    if (entry) return entry
    throw noSuchRun(id)
  }

  #forget(): void {
    const id = this.#ended.shift()!
    this.#chars -= this.#entries.get(id)?.run.summary.text.length ?? 0
    this.#entries.delete(id)
  }
}

/** The `missing` error for an unknown run. */
export function noSuchRun(id: string): CrabError {
  return new CrabError('missing', `Cannot find run ${id}: it does not exist, or it ended long ago`, {
    hint: 'its answer is stored in its conversation: see crabtalk conversation list',
  })
}

const MAX_ENDED = 1000
const MAX_CHARS = 8 * 1024 * 1024
