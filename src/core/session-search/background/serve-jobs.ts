import type { MessagePort, Transferable } from 'node:worker_threads'
import { CrabError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { inlineJobs } from './inline-jobs.ts'
import type { Failure, Reply, Request } from './messages.ts'
import type { FileToRead, ReadBatch } from './types.ts'

/** Files that are being read: the next batch is made while the last one is used. */
interface Run {
  next: Promise<IteratorResult<ReadBatch>>
  batches: AsyncGenerator<ReadBatch>
  stop: AbortController
}

/** The worker's side: does what is asked, until the thread is ended. */
export function serveJobs(port: MessagePort): void {
  const log: Log = (level, message) => say({ log: [level, message] })
  const say = (reply: Reply, transfers: readonly Transferable[] = []) =>
    port.postMessage(reply, [...transfers])
  const stops = new Map<number, AbortController>()
  const worker = new JobRunner(log)
  port.on('messageerror', (reason) => {
    throw reason // whoever asked for that would wait for ever
  })
  port.on('message', async (request: Request) => {
    const { id } = request
    if (request.job === 'stop') return stops.get(id)?.abort()
    const stop = new AbortController()
    stops.set(id, stop)
    try {
      const value = await worker.run(request, stop.signal)
      say({ id, value }, request.job === 'next' ? listBuffers(value as ReadBatch | undefined) : [])
    } catch (reason) {
      say({ id, failure: toFailure(reason) })
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
        return this.#jobs.save(request.place, request.parts, signal)
      case 'load':
        return this.#jobs.load(request.place, signal)
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
    this.#runs.set(id, { batches, stop, next: ahead(batches) })
    return id
  }

  async #next(id: number): Promise<ReadBatch | undefined> {
    const run = this.#runs.get(id)
    const { done, value } = (await run?.next) ?? { done: true, value: undefined }
    if (!done && run) run.next = ahead(run.batches)
    return done ? undefined : value
  }

  async #close(id: number): Promise<void> {
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    run?.stop.abort()
    await run?.next.catch(() => undefined) // whoever closes it wants no more of it
  }
}

/** The next batch, begun now; a failure is told to who asks for it. */
function ahead(batches: AsyncGenerator<ReadBatch>): Promise<IteratorResult<ReadBatch>> {
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
