import { Worker } from 'node:worker_threads'
import { CrabError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { SavedPart } from '../../search/checkpoint/types.ts'
import type { Segment } from '../../search/parts.ts'
import { type Failure, type Reply, type Request, WorkerEnded, type WorkerJob } from './messages.ts'
import type { BackgroundJobs, ReadBatch } from './types.ts'

/** The settings of a worker thread. */
export interface WorkerThreadOptions {
  /** The text of the worker's program, or the location of its file. */
  source: string | URL
  log: Log
  /** The time without work after which the thread ends, in milliseconds. */
  idleMs: number
}

/**
 * A worker thread that starts with its first job. While idle it does not keep the process alive, and it ends
 * after `idleMs`.
 */
export class WorkerThread implements AsyncDisposable {
  readonly #options: WorkerThreadOptions
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  /** The number of runs that still have batches to deliver; between two batches the thread is not idle. */
  #runs = 0
  #lastId = 0

  constructor(options: WorkerThreadOptions) {
    this.#options = options
  }

  /** The background jobs; each rejects with WorkerEnded when the thread ends meanwhile. */
  readonly jobs: BackgroundJobs = {
    seal: async (tail) => (await this.#do({ job: 'seal', tail })) as Segment,
    merge: async (merge) => (await this.#do({ job: 'merge', merge })) as Segment,
    save: async (location, parts, signal) =>
      (await this.#do({ job: 'save', location, parts }, signal)) as string[],
    load: async (location, signal) =>
      (await this.#do({ job: 'load', location }, signal)) as SavedPart[] | undefined,
    readFiles: (files, signal) => this.#readFiles(files, signal),
  }

  /** Terminates the thread; running jobs reject with WorkerEnded. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle)
    await this.#worker?.terminate()
  }

  async *#readFiles(
    files: Parameters<BackgroundJobs['readFiles']>[0],
    signal: AbortSignal,
  ): AsyncGenerator<ReadBatch> {
    this.#runs++
    let worker: Worker | undefined
    let run = 0
    try {
      run = (await this.#do({ job: 'open', files }, signal)) as number
      worker = this.#worker
      for (;;) {
        // a new worker does not know this run
        if (this.#worker !== worker) throw new WorkerEnded('it ended between two batches')
        const batch = (await this.#do({ job: 'next', run }, signal)) as ReadBatch | undefined
        if (!batch) return
        yield batch
      }
    } finally {
      this.#runs--
      if (worker && this.#worker === worker) await this.#do({ job: 'close', run })
      else this.#startIdleTimer()
    }
  }

  /** Returns the reply. An abort, too, settles only when the job has really stopped. */
  async #do(job: WorkerJob, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted()
    const id = ++this.#lastId
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(id, answer)
    const stop = () => this.#worker?.postMessage({ id, job: 'stop' } satisfies Request)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      this.#start().postMessage({ id, ...job } satisfies Request)
      return await answer.promise
    } catch (reason) {
      if (signal?.aborted) throw signal.reason
      throw reason
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#waiting.delete(id)
      this.#startIdleTimer()
    }
  }

  #start(): Worker {
    clearTimeout(this.#idle)
    try {
      this.#worker ??= this.#spawn()
    } catch (cause) {
      throw new WorkerEnded('it cannot start', { cause })
    }
    this.#worker.ref()
    return this.#worker
  }

  #spawn(): Worker {
    const { source } = this.#options
    const worker = new Worker(source, {
      name: 'crabtalk-search',
      eval: typeof source === 'string',
      env: {},
      execArgv: [], // preloads and inspector flags of this process do not apply to it
    })
    let why = 'it ended'
    worker.on('message', (reply: Reply) => this.#onReply(reply))
    worker.on('error', (reason) => {
      why = reason instanceof Error ? reason.message : String(reason)
    })
    worker.on('messageerror', ({ message }) => {
      why = message
      void worker.terminate() // otherwise the caller of that job would wait forever
    })
    worker.on('exit', () => this.#onExit(worker, why))
    return worker
  }

  #onReply(reply: Reply): void {
    const answer = 'id' in reply ? this.#waiting.get(reply.id) : undefined
    if ('log' in reply) this.#options.log(...reply.log)
    else if ('failure' in reply) answer?.reject(toError(reply.failure))
    else answer?.resolve(reply.value)
  }

  #onExit(worker: Worker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const answer of this.#waiting.values()) answer.reject(new WorkerEnded(why))
  }

  /** Starts the idle timer when the last job is done. */
  #startIdleTimer(): void {
    if (this.#waiting.size > 0 || this.#runs > 0) return
    const worker = this.#worker
    worker?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      if (this.#worker === worker) this.#worker = undefined
      void worker?.terminate()
    }, this.#options.idleMs).unref()
  }
}

function toError({ kind, message, hint }: Failure): Error {
  return kind ? new CrabError(kind, message, hint === undefined ? {} : { hint }) : new Error(message)
}
