import { CrabError } from '../../base/errors.ts'
import { lazy } from '../../base/lazy.ts'
import type { Log } from '../../base/log.ts'
import { WorkerEnded } from './messages.ts'
import { ReadProgress } from './read-progress.ts'
import type { BackgroundJobs, IndexBackground, ReadBatch, ReadFile, WorkerSource } from './types.ts'

/** The settings of the background of an index. */
export interface BackgroundOptions {
  /** Called with the first job. */
  worker: WorkerSource
  log: Log
  /** The time without work after which the thread ends, in milliseconds. */
  idleMs?: number
}

/**
 * Opens the background of an index. A job whose thread dies, because it ran out of memory or has a bug, is
 * retried in a new thread, and after that in the calling thread; each death is logged.
 *
 * Disposing aborts running jobs, which reject with `cancelled`, and waits until they have stopped.
 */
export function openBackground({ worker, log, idleMs = IDLE_MS }: BackgroundOptions): IndexBackground {
  const closed = new AbortController()
  const running = new Set<Promise<unknown>>()
  const inline = lazy(async () => (await import('./inline-jobs.ts')).inlineJobs({ log }))
  const thread = lazy(async () => {
    const source = await worker()
    if (source === undefined) return undefined
    const { WorkerThread } = await import('./worker-thread.ts')
    return new WorkerThread({ source, log, idleMs })
  })

  /** Yields where to try a job: worker threads first, then this thread. */
  async function* executors(): AsyncGenerator<BackgroundJobs> {
    const workerThread = await thread.get()
    if (workerThread) for (let attempt = 1; attempt <= ATTEMPTS; attempt++) yield workerThread.jobs
    yield await inline.get()
  }

  /** Whether to try again because the thread died without being told to stop. */
  function shouldRetry(reason: unknown): boolean {
    if (closed.signal.aborted)
      throw new CrabError('cancelled', 'Cancelled: the search index is closed', { cause: reason })
    if (!(reason instanceof WorkerEnded)) return false
    log('warn', `The search index's worker thread ended; its work is restarted: ${reason.message}`)
    return true
  }

  async function attempt<T>(run: (jobs: BackgroundJobs) => Promise<T>): Promise<T> {
    closed.signal.throwIfAborted()
    for await (const jobs of executors()) {
      try {
        return await run(jobs)
      } catch (reason) {
        if (!shouldRetry(reason)) throw reason
      }
    }
    throw new WorkerEnded('the thread ended') // unreachable: the last attempt uses no worker
  }

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work)
    const forget = () => running.delete(work)
    work.then(forget, forget)
    return work
  }
  const untilClosed = (signal: AbortSignal) => AbortSignal.any([signal, closed.signal])

  return {
    seal: (tail) => track(attempt((jobs) => jobs.seal(tail))),
    merge: (job) => track(attempt((jobs) => jobs.merge(job))),
    save: (location, parts, signal) =>
      track(attempt((jobs) => jobs.save(location, parts, untilClosed(signal)))),
    load: (location, signal) => track(attempt((jobs) => jobs.load(location, untilClosed(signal)))),
    async *readFiles(files, signal) {
      let left = files
      for await (const jobs of executors()) {
        const progress = new ReadProgress(left)
        try {
          for await (const batch of jobs.readFiles(left, untilClosed(signal))) {
            progress.add(batch)
            yield batch
          }
          return
        } catch (reason) {
          if (!shouldRetry(reason)) throw reason
        }
        if (progress.broken) yield filesOnly([progress.broken])
        left = progress.left
      }
    },
    async [Symbol.asyncDispose]() {
      closed.abort(new CrabError('cancelled', 'Cancelled: the search index is closed'))
      const workerThread = await thread.current?.catch(() => undefined)
      await workerThread?.[Symbol.asyncDispose]()
      await Promise.allSettled(running)
    },
  }
}

/** Returns a batch that contains only ends of files. */
export function filesOnly(files: readonly ReadFile[]): ReadBatch {
  return {
    isFirst: false,
    keys: new Uint8Array(),
    keyLengths: new Uint8Array(),
    keyHashes: new Uint32Array(),
    groups: new Uint32Array(),
    kinds: new Uint8Array(),
    seqs: new Uint32Array(),
    offsets: new Uint32Array(),
    times: new Float64Array(),
    counts: new Uint32Array(),
    terms: new Uint32Array(),
    files,
  }
}

/** The number of threads that may die running one job. */
const ATTEMPTS = 2
const IDLE_MS = 10_000
