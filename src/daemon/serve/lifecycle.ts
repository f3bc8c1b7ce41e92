import { CrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'

/** The part of the process that a daemon needs. */
export interface DaemonHost {
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): Disposable
  onCrash(listener: (reason: unknown) => void): Disposable
  /** Ends the process immediately. */
  leave(code: number): never
  readonly stderr: { readonly isTerminal: boolean; write(text: string): unknown; flush(): Promise<void> }
}

const INTERRUPTED = 130
const TERMINATED = 143
const CRASHED = 70

/** Handles the signals and crashes of a daemon, from its start to its end. */
export class DaemonLifecycle implements Disposable {
  readonly #stop = new AbortController()
  readonly #log: Log
  readonly #host: DaemonHost
  readonly #listening = new DisposableStack()
  #reload: (() => void) | undefined
  /** Whether a SIGHUP arrived before `reloadWith()` was called. */
  #mustReload = false
  /** Whether it owns the home; until then another daemon may write the log. */
  hasHome = false
  /** Whether clients can connect. */
  isServing = false
  /** Whether it stops because of an internal failure. */
  hasCrashed = false

  constructor(host: DaemonHost, log: Log) {
    this.#host = host
    this.#log = log
    this.#listening.use(host.onSignal((name) => this.#onSignal(name)))
    this.#listening.use(host.onCrash((reason) => this.#onCrash(reason)))
  }

  /** Aborted when the daemon is to stop, with a CrabError that gives the reason. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Sets what SIGHUP does from now on, and does it immediately if one has already arrived. */
  reloadWith(reload: () => void): void {
    this.#reload = reload
    if (this.#mustReload) reload()
    this.#mustReload = false
  }

  /** Starts the shutdown of the daemon. */
  stop(why: string): void {
    if (this.signal.aborted) return
    this.#log('info', `stopping: ${why}`)
    const hint = 'your message is saved; send it again once another daemon runs, or without a daemon'
    this.#stop.abort(new CrabError('unavailable', 'Cannot continue: the daemon is stopping', { hint }))
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }

  #onSignal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
    if (name !== 'SIGHUP') this.#onEnd(name)
    else if (this.#reload) this.#reload()
    else this.#mustReload = true
  }

  #onEnd(name: 'SIGINT' | 'SIGTERM'): void {
    if (this.signal.aborted) this.#host.leave(name === 'SIGINT' ? INTERRUPTED : TERMINATED)
    this.stop(name)
  }

  /**
   * Starts a shutdown that releases what can be released; a second failure during it ends the process
   * immediately.
   */
  #onCrash(reason: unknown): void {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
    this.#log('error', `crashed: ${text}`, { kind: 'internal' })
    if (!this.#host.stderr.isTerminal) this.#host.stderr.write(`crabtalk: error[internal]: ${text}\n`)
    if (this.hasCrashed) this.#host.leave(CRASHED)
    this.hasCrashed = true
    this.stop('an internal error')
  }
}
