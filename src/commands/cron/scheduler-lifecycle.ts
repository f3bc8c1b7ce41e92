import { type CrabError, toCrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import type { Host, SignalName } from '../host.ts'
import { SIGNAL_EXIT } from '../send/stop-controller.ts'

/** A failure of our own ends it at once when it comes a second time. */
const CRASHED = 70

/** What ends a scheduler, and what is only heard. */
export class SchedulerLifecycle implements Disposable {
  readonly #end = Promise.withResolvers<void>()
  readonly #listening = new DisposableStack()
  readonly #host: Host
  readonly #log: Log
  #reload: (() => void) | undefined
  #isEnding = false
  hasCrashed = false

  constructor(host: Host, log: Log) {
    this.#host = host
    this.#log = log
    this.#listening.use(host.onSignal((name) => this.#onSignal(name)))
    this.#listening.use(host.onCrash((reason) => this.#onCrash(reason)))
  }

  /** Resolves when it is to end. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** What SIGHUP does from now on. */
  reloadWith(reload: () => void): void {
    this.#reload = reload
  }

  /** Begins to end it. */
  stop({ message }: Pick<CrabError, 'message'>): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#log('info', `stopping: ${message}`)
    this.#end.resolve()
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }

  #onSignal(name: SignalName): void {
    if (name === 'SIGHUP') this.#reload?.()
    else if (this.#isEnding) this.#host.leave(SIGNAL_EXIT[name])
    else this.stop({ message: name })
  }

  #onCrash(reason: unknown): void {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
    this.#log('error', `crashed: ${text}`, { kind: toCrabError(reason).kind })
    if (!this.#host.stderr.isTerminal) this.#host.stderr.write(`crabtalk: error[internal]: ${text}\n`)
    if (this.hasCrashed) this.#host.leave(CRASHED)
    this.hasCrashed = true
    this.stop({ message: 'a failure of its own' })
  }
}
