import { CrabError } from '../core/base/errors.ts'
import type { Host, SignalName } from './host.ts'

/** The exit codes of a run that a signal ended (128 + its number). */
export const SIGNAL_EXIT: Record<SignalName, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
/** The exit code of a run whose reader went away, as after SIGPIPE. */
const PIPE_EXIT = 141
/** The time in milliseconds that a cancelled run gets to store its results before the process exits anyway. */
const GRACE_MS = 450

interface StopOptions {
  host: Host
  timeoutMs: number
  idleTimeoutMs: number
  signal?: AbortSignal
  /** Returns the milliseconds of a monotonic clock. */
  now?: () => number
}

/**
 * Everything that can end a run early: signals, a reader that went away, the time limits, and the caller's
 * own signal.
 *
 * The first signal cancels the run. A second signal exits immediately, and so does the first when the run has
 * not ended in time.
 */
export class StopController implements Disposable {
  readonly #controller = new AbortController()
  /** Aborted when the run must end, with a CrabError that gives the reason. */
  readonly signal: AbortSignal
  readonly #host: Host
  readonly #idleMs: number
  readonly #timeoutMs: number
  readonly #listening: Disposable
  readonly #now: () => number
  #total: NodeJS.Timeout | undefined
  /** The remaining time of the whole run, and since when it has been running. */
  #left: number
  #since = 0
  /** The number of pending questions. */
  #asks = 0
  #idle: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined
  #exit: number | undefined

  constructor(options: StopOptions) {
    const { host, timeoutMs, signal, now = () => performance.now() } = options
    const own = this.#controller.signal
    this.signal = signal ? AbortSignal.any([own, signal]) : own
    this.#host = host
    this.#idleMs = options.idleTimeoutMs
    this.#timeoutMs = timeoutMs
    this.#left = timeoutMs
    this.#now = now
    this.#listening = host.onSignal((name) => this.#onSignal(name))
    host.stdout.onClosed = () => this.#onReaderGone()
    this.#startTimer()
  }

  /** The exit code when a signal or a closed pipe ended the run; such an end is not reported as an error. */
  get exit(): number | undefined {
    return this.#exit
  }

  /** Restarts the idle timeout, because the model has sent something. */
  resetIdle(): void {
    if (this.#idleMs === 0) return
    if (this.#idle) this.#idle.refresh()
    else this.#idle = setTimeout(() => this.#abort(modelSilentError(this.#idleMs)), this.#idleMs)
  }

  /**
   * Suspends the idle timeout while a tool or a slow reader is waited for, until the model is waited for
   * again.
   */
  pauseIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
  }

  /** Pauses the time limit of the run while the user is asked. */
  askOpened(): void {
    if (this.#asks++ > 0) return
    clearTimeout(this.#total)
    this.#left -= this.#now() - this.#since
  }

  /** Continues the time limit when the last question is closed. */
  askClosed(): void {
    if (--this.#asks === 0) this.#startTimer()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#total)
    clearTimeout(this.#grace)
    this.pauseIdle()
    this.#listening[Symbol.dispose]()
    this.#controller.abort()
  }

  /** Starts, or continues, the time limit of the whole run. */
  #startTimer(): void {
    this.#since = this.#now()
    const tooLong = () => this.#abort(timeoutError('the run took longer than', this.#timeoutMs, '--timeout'))
    if (this.#timeoutMs > 0) this.#total = setTimeout(tooLong, Math.max(1, this.#left))
  }

  #onSignal(name: SignalName): void {
    const exit = SIGNAL_EXIT[name]
    if (this.#exit !== undefined) this.#host.leave(exit)
    this.#exit = exit
    this.#grace = setTimeout(() => this.#host.leave(exit), GRACE_MS)
    this.#abort(new CrabError('cancelled', `Cancelled by ${name}`))
  }

  #onReaderGone(): void {
    this.#exit ??= PIPE_EXIT
    this.#abort(new CrabError('cancelled', 'Cancelled: the reader of standard output is gone'))
  }

  #abort(reason: CrabError): void {
    this.#controller.abort(reason)
  }
}

function modelSilentError(limitMs: number): CrabError {
  return timeoutError('the model sent nothing for', limitMs, '--idle-timeout')
}

function timeoutError(what: string, limitMs: number, option: string): CrabError {
  return new CrabError('timeout', `Cannot finish: ${what} ${limitMs / 1000} s`, {
    hint: `allow more time with ${option}`,
  })
}
