import { CrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'

/** The process of a daemon, as far as the daemon needs it. */
export interface DaemonHost {
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): Disposable
  onCrash(listener: (reason: unknown) => void): Disposable
  /** Ends the process at once. */
  leave(code: number): never
  readonly stderr: { readonly isTerminal: boolean; write(text: string): unknown; flush(): Promise<void> }
}

const INTERRUPTED = 130
const TERMINATED = 143
const CRASHED = 70

/** From its first signal to its end: what ends a daemon, and what is only heard. */
export class DaemonLifecycle implements Disposable {
  readonly #stop = new AbortController()
  readonly #log: Log
  readonly #host: DaemonHost
  readonly #listening = new DisposableStack()
  #reload: (() => void) | undefined
  /** A SIGHUP came before there was anything to reload. */
  #mustReload = false
  /** Whether the home is its own: before that another daemon writes the log. */
  hasHome = false
  /** Whether clients can reach it. */
  isServing = false
  /** Whether it ends because of a failure of ours. */
  hasCrashed = false

  constructor(host: DaemonHost, log: Log) {
    this.#host = host
    this.#log = log
    this.#listening.use(host.onSignal((name) => this.#onSignal(name)))
    this.#listening.use(host.onCrash((reason) => this.#onCrash(reason)))
  }

  /** Aborted when it is to end, with a CrabError that says why. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** What SIGHUP does from now on; one that came before does it now. */
  reloadWith(reload: () => void): void {
    this.#reload = reload
    if (this.#mustReload) reload()
    this.#mustReload = false
  }

  /** Begins to end it. */
  stop(why: string): void {
    if (this.signal.aborted) return
    this.#log('info', `stopping: ${why}`)
    const hint = 'what was said is kept; say it again, with another daemon or without one'
    this.#stop.abort(new CrabError('unavailable', 'Cannot go on: the daemon is stopping', { hint }))
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

  /** Goes on far enough to release what can be released; a second failure meanwhile ends it at once. */
  #onCrash(reason: unknown): void {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
    this.#log('error', `crashed: ${text}`, { kind: 'internal' })
    if (!this.#host.stderr.isTerminal) this.#host.stderr.write(`crabtalk: error[internal]: ${text}\n`)
    if (this.hasCrashed) this.#host.leave(CRASHED)
    this.hasCrashed = true
    this.stop('a failure of its own')
  }
}
