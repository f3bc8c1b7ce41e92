import { CrabError } from '../../core/base/errors.ts'
import type { Host, SignalName } from '../host.ts'

/** Exit codes of a run that a signal ended (128 + its number). */
export const SIGNAL_EXIT: Record<SignalName, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
/** Exit code of a run whose reader went away, as SIGPIPE gives it. */
const PIPE_EXIT = 141
/** How long a cancelled run may take to store what was said, before it leaves anyway. */
const GRACE_MS = 450

/**
 * Everything that can end a run early: signals, a reader that went away, the time limits, and the caller's own signal.
 *
 * The first signal cancels; the second one leaves at once, and so does the first when the run has not ended in time.
 */
export class Stop implements Disposable {
  readonly #controller = new AbortController()
  /** Aborted when the run must end, with the CrabError that says why. */
  readonly signal: AbortSignal
  readonly #host: Host
  readonly #idleMs: number
  readonly #listening: Disposable
  readonly #total: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  #grace: NodeJS.Timeout | undefined
  #exit: number | undefined

  constructor(options: { host: Host; timeoutMs: number; idleTimeoutMs: number; signal?: AbortSignal }) {
    const { host, timeoutMs, signal } = options
    const own = this.#controller.signal
    this.signal = signal ? AbortSignal.any([own, signal]) : own
    this.#host = host
    this.#idleMs = options.idleTimeoutMs
    this.#listening = host.onSignal((name) => this.#onSignal(name))
    host.stdout.onClosed = () => this.#readerGone()
    const tooLong = () => this.#abort(timedOut('the run takes longer than', timeoutMs, '--timeout'))
    if (timeoutMs > 0) this.#total = setTimeout(tooLong, timeoutMs)
  }

  /** The exit code when a signal or a closed pipe ended the run; such an end needs no words. */
  get exit(): number | undefined {
    return this.#exit
  }

  /** The model was heard: its silence starts anew. */
  heard(): void {
    if (this.#idleMs === 0) return
    if (this.#idle) this.#idle.refresh()
    else this.#idle = setTimeout(() => this.#abort(silent(this.#idleMs)), this.#idleMs)
  }

  /** Silence is somebody else's now (a tool's, a slow reader's), until the model is waited for again. */
  pause(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#total)
    clearTimeout(this.#grace)
    this.pause()
    this.#listening[Symbol.dispose]()
    this.#controller.abort()
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
