import { CrabError } from '../../core/base/errors.ts'
import type { Host, SignalName } from '../host.ts'

/** Exit codes of a run that a signal ended (128 + its number). */
export const SIGNAL_EXIT: Record<SignalName, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
/** Exit code of a run whose reader went away, as SIGPIPE gives it. */
const PIPE_EXIT = 141
/** How long a cancelled run may take to store what was said, before it leaves anyway. */
const GRACE_MS = 450

interface StopOptions {
  host: Host
  timeoutMs: number
  idleTimeoutMs: number
  signal?: AbortSignal
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number
}

/**
 * Everything that can end a run early: signals, a reader that went away, the time limits, and the caller's own signal.
 *
 * The first signal cancels; the second one leaves at once, and so does the first when the run has not ended in time.
 */
export class StopController implements Disposable {
  readonly #controller = new AbortController()
  /** Aborted when the run must end, with the CrabError that says why. */
  readonly signal: AbortSignal
  readonly #host: Host
  readonly #idleMs: number
  readonly #timeoutMs: number
  readonly #listening: Disposable
  readonly #now: () => number
  #total: NodeJS.Timeout | undefined
  /** What is left of the whole run's time, and since when it has been passing. */
  #left: number
  #since = 0
  /** Questions that wait for a person. */
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
    host.stdout.onClosed = () => this.#readerGone()
    this.#run()
  }

  /** The exit code when a signal or a closed pipe ended the run; such an end needs no words. */
  get exit(): number | undefined {
    return this.#exit
  }

  /** The model was heard: its silence starts anew. */
  resetIdle(): void {
    if (this.#idleMs === 0) return
    if (this.#idle) this.#idle.refresh()
    else this.#idle = setTimeout(() => this.#abort(silent(this.#idleMs)), this.#idleMs)
  }

  /** Silence is somebody else's now (a tool's, a slow reader's), until the model is waited for again. */
  pauseIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
  }

  /** A person is asked: however long they think, the run does not get longer. */
  askOpened(): void {
    if (this.#asks++ > 0) return
    clearTimeout(this.#total)
    this.#left -= this.#now() - this.#since
  }

  /** One of the questions is closed. */
  askClosed(): void {
    if (--this.#asks === 0) this.#run()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#total)
    clearTimeout(this.#grace)
    this.pauseIdle()
    this.#listening[Symbol.dispose]()
    this.#controller.abort()
  }

  /** Lets the time of the whole run pass. */
  #run(): void {
    this.#since = this.#now()
    const tooLong = () => this.#abort(timedOut('the run takes longer than', this.#timeoutMs, '--timeout'))
    if (this.#timeoutMs > 0) this.#total = setTimeout(tooLong, Math.max(1, this.#left))
  }

  #onSignal(name: SignalName): void {
    const exit = SIGNAL_EXIT[name]
    if (this.#exit !== undefined) this.#host.leave(exit)
    this.#exit = exit
    this.#grace = setTimeout(() => this.#host.leave(exit), GRACE_MS)
    this.#abort(new CrabError('cancelled', `Cancelled by ${name}`))
  }

  #readerGone(): void {
    this.#exit ??= PIPE_EXIT
    this.#abort(new CrabError('cancelled', 'Cancelled: the reader of standard output has gone'))
  }

  #abort(reason: CrabError): void {
    this.#controller.abort(reason)
  }
}

function silent(limitMs: number): CrabError {
  return timedOut('the model said nothing for', limitMs, '--idle-timeout')
}

function timedOut(what: string, limitMs: number, option: string): CrabError {
  return new CrabError('timeout', `Cannot finish: ${what} ${limitMs / 1000} s`, {
    hint: `give it longer with ${option}`,
  })
}
