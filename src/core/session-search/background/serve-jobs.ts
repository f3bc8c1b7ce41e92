import type { MessagePort, Transferable } from 'node:worker_threads'
import { CrabError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { inlineJobs } from './inline-jobs.ts'
import type { Failure, Reply, Request } from './messages.ts'
import type { FileToRead, ReadBatch } from './types.ts'

/** Files that are being read; the next batch is built while the previous one is used. */
interface Run {
  next: Promise<IteratorResult<ReadBatch>>
  batches: AsyncGenerator<ReadBatch>
  stop: AbortController
}

/** Runs in the worker: executes the jobs it receives until the thread is terminated. */
export function serveJobs(port: MessagePort): void {
  const log: Log = (level, message) => post({ log: [level, message] })
  const post = (reply: Reply, transfers: readonly Transferable[] = []) =>
    port.postMessage(reply, [...transfers])
  const stops = new Map<number, AbortController>()
  const worker = new JobRunner(log)
  port.on('messageerror', (reason) => {
    throw reason // otherwise the caller would wait forever
  })
  port.on('message', async (request: Request) => {
    const { id } = request
    if (request.job === 'stop') return stops.get(id)?.abort()
    const stop = new AbortController()
    stops.set(id, stop)
    try {
      const value = await worker.run(request, stop.signal)
      post({ id, value }, request.job === 'next' ? listBuffers(value as ReadBatch | undefined) : [])
    } catch (reason) {
      post({ id, failure: toFailure(reason) })
    } finally {
      stops.delete(id)
    }
  })
}

class JobRunner {
  readonly #jobs
  readonly #runs = new Map<number, Run>()

  constructor(log: Log) {
    this.#jobs = inlineJobs({ log })
  }

  async run(request: Exclude<Request, { job: 'stop' }>, signal: AbortSignal): Promise<unknown> {
    switch (request.job) {
      case 'seal':
        return this.#jobs.seal(request.tail)
      case 'merge':
        return this.#jobs.merge(request.merge)
      case 'save':
        return this.#jobs.save(request.location, request.parts, signal)
      case 'load':
        return this.#jobs.load(request.location, signal)
      case 'open':
        return this.#open(request)
      case 'next':
        return this.#next(request.run)
      case 'close':
        return this.#close(request.run)
    }
  }

  #open({ id, files }: { id: number; files: readonly FileToRead[] }): number {
    const stop = new AbortController()
    const batches = this.#jobs.readFiles(files, stop.signal)
    this.#runs.set(id, { batches, stop, next: prefetch(batches) })
    return id
  }

  async #next(id: number): Promise<ReadBatch | undefined> {
    const run = this.#runs.get(id)
    const { done, value } = (await run?.next) ?? { done: true, value: undefined }
    if (!done && run) run.next = prefetch(run.batches)
    return done ? undefined : value
  }

  async #close(id: number): Promise<void> {
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    run?.stop.abort()
    await run?.next.catch(() => undefined) // a failure does not matter once the run is closed
  }
}

/** Starts building the next batch; a failure is reported to the caller who requests it. */
function prefetch(batches: AsyncGenerator<ReadBatch>): Promise<IteratorResult<ReadBatch>> {
  const next = batches.next()
  next.catch(() => undefined)
  return next
}

function listBuffers(batch: ReadBatch | undefined): ArrayBuffer[] {
  const arrays = Object.values(batch ?? {}).filter((value) => ArrayBuffer.isView(value))
  return arrays.map(({ buffer }) => buffer as ArrayBuffer)
}

function toFailure(reason: unknown): Failure {
  if (reason instanceof CrabError) return { kind: reason.kind, message: reason.message, hint: reason.hint }
  return {
    kind: undefined,
    message: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
    hint: undefined,
  }
}
