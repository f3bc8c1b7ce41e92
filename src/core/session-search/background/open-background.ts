import { CrabError } from '../../base/errors.ts'
import { lazy } from '../../base/lazy.ts'
import type { Log } from '../../base/log.ts'
import { filesOnly } from './empty-batch.ts'
import { WorkerEnded } from './messages.ts'
import { ReadProgress } from './read-progress.ts'
import type { BackgroundJobs, IndexBackground, WorkerSource } from './types.ts'

export interface BackgroundOptions {
  /** Asked with the first job. */
  worker: WorkerSource
  log: Log
  /** Without work for so long the thread ends, milliseconds. */
  idleMs?: number
}

/**
 * What an index has done in the background. A job during which the thread ends, for want of memory or by a fault, is
 * given to a new thread, and when that ends, too, it is done in this one; the log is told.
 *
 * Disposing stops what runs, which fails with `cancelled`, and waits until it has stopped.
 */
export function openBackground({ worker, log, idleMs = IDLE_MS }: BackgroundOptions): IndexBackground {
  const over = new AbortController()
  const running = new Set<Promise<unknown>>()
  const inline = lazy(async () => (await import('./inline-jobs.ts')).inlineJobs({ log }))
  const thread = lazy(async () => {
    const source = await worker()
    if (source === undefined) return undefined
    const { WorkerThread } = await import('./worker-thread.ts')
    return new WorkerThread({ source, log, idleMs })
  })

  /** Where a job is tried, one after another. */
  async function* places(): AsyncGenerator<BackgroundJobs> {
    const made = await thread.get()
    if (made) for (let attempt = 1; attempt <= ATTEMPTS; attempt++) yield made.jobs
    yield await inline.get()
  }

  /** Whether the next place may try it: the thread ended without being told to. */
  function isLost(reason: unknown): boolean {
    if (over.signal.aborted)
      throw new CrabError('cancelled', 'Cancelled: the search index is closed', { cause: reason })
    if (!(reason instanceof WorkerEnded)) return false
    log(
      'warn',
      `The thread that works for the search index ended, and its work is begun again: ${reason.message}`,
    )
    return true
  }

  async function attempt<T>(run: (jobs: BackgroundJobs) => Promise<T>): Promise<T> {
    over.signal.throwIfAborted()
    for await (const jobs of places()) {
      try {
        return await run(jobs)
      } catch (reason) {
        if (!isLost(reason)) throw reason
      }
    }
    throw new WorkerEnded('the thread ended') // the last place has none
  }

  function kept<T>(work: Promise<T>): Promise<T> {
    running.add(work)
    const forget = () => running.delete(work)
    work.then(forget, forget)
    return work
  }
  const untilOver = (signal: AbortSignal) => AbortSignal.any([signal, over.signal])

  return {
    seal: (tail) => kept(attempt((jobs) => jobs.seal(tail))),
    merge: (job) => kept(attempt((jobs) => jobs.merge(job))),
    save: (place, parts, signal) => kept(attempt((jobs) => jobs.save(place, parts, untilOver(signal)))),
    load: (place, signal) => kept(attempt((jobs) => jobs.load(place, untilOver(signal)))),
    async *readFiles(files, signal) {
      let left = files
      for await (const jobs of places()) {
        const progress = new ReadProgress(left)
        try {
          for await (const batch of jobs.readFiles(left, untilOver(signal))) {
            progress.add(batch)
            yield batch
          }
          return
        } catch (reason) {
          if (!isLost(reason)) throw reason
        }
        if (progress.broken) yield filesOnly([progress.broken])
        left = progress.left
      }
    },
    async [Symbol.asyncDispose]() {
      over.abort(new CrabError('cancelled', 'Cancelled: the search index is closed'))
      const made = await thread.current?.catch(() => undefined)
      await made?.[Symbol.asyncDispose]()
      await Promise.allSettled(running)
    },
  }
}

/** Threads that may end over one job. */
const ATTEMPTS = 2
const IDLE_MS = 10_000
