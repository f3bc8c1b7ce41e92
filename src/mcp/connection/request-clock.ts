import type { Progress, RequestOptions } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'

/** Receives the progress a server reports, in a unit of the server's choice. */
export type OnProgress = (progress: Progress) => void

/** The time limits of a request. */
export interface Limits {
  /** The time until the response or the next progress report. */
  idleMs: number
  totalMs?: number
  onProgress?: OnProgress | undefined
}

/** The timers of one request, until disposed. */
export interface Clock extends Disposable {
  /** Aborted with `timeout` when it takes too long. */
  signal: AbortSignal
  progress: Pick<RequestOptions, 'onprogress'>
  /** Pauses the clock until every pause is disposed, for example while a user is asked. */
  pause(): Disposable
}

/** Starts the timers of a request. */
export function startClock({ idleMs, totalMs = idleMs, onProgress }: Limits): Clock {
  const deadline = new AbortController()
  const expire = (ms: number) =>
    deadline.abort(new CrabError('timeout', `it did not answer within ${Math.round(ms / 100) / 10} s`))
  const timers = [new Timer(totalMs, expire), new Timer(idleMs, expire)]
  let pauses = 0
  const onprogress: OnProgress = (report) => {
    timers[1]!.rewind()
    onProgress?.(report)
  }
  return {
    signal: deadline.signal,
    progress: onProgress ? { onprogress } : {},
    pause() {
      if (pauses++ === 0) for (const timer of timers) timer.stop()
      return {
        [Symbol.dispose]: () => {
          if (--pauses === 0 && !deadline.signal.aborted) for (const timer of timers) timer.go()
        },
      }
    },
    [Symbol.dispose]() {
      pauses = Number.POSITIVE_INFINITY
      for (const timer of timers) timer.stop()
    },
  }
}

/** A timer that can be paused. */
class Timer {
  readonly #ms: number
  readonly #expire: (ms: number) => void
  #leftMs: number
  #since = 0
  #timeout: NodeJS.Timeout | undefined

  constructor(ms: number, expire: (ms: number) => void) {
    this.#ms = ms
    this.#expire = expire
    this.#leftMs = ms
    this.go()
  }

  go(): void {
    this.#since = performance.now()
    this.#timeout = setTimeout(() => this.#expire(this.#ms), this.#leftMs)
  }

  stop(): void {
    if (this.#timeout === undefined) return
    clearTimeout(this.#timeout)
    this.#timeout = undefined
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since))
  }

  rewind(): void {
    this.#leftMs = this.#ms
    if (this.#timeout === undefined) return
    clearTimeout(this.#timeout)
    this.go()
  }
}
