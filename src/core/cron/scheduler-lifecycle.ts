import { constants } from 'node:os'
import { type CrabError, toCrabError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'

/** The parts of its process that a scheduler uses. */
export interface SchedulerProcess {
  readonly pid: number
  readonly stderr: { readonly isTerminal: boolean; write(text: string): unknown }
  /** Calls the listener for each of these signals until disposed. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): Disposable
  /** Calls the listener for uncaught errors until disposed. */
  onCrash(listener: (reason: unknown) => void): Disposable
  /** Ends the process immediately with an exit code. */
  leave(code: number): void
}

/** The exit code after a second internal failure, which ends the process immediately. */
const CRASHED = 70

/** Handles the signals and crashes of a scheduler. */
export class SchedulerLifecycle implements Disposable {
  readonly #end = Promise.withResolvers<void>()
  readonly #listening = new DisposableStack()
  readonly #host: SchedulerProcess
  readonly #log: Log
  #reload: (() => void) | undefined
  #isEnding = false
  hasCrashed = false

  constructor(host: SchedulerProcess, log: Log) {
    this.#host = host
    this.#log = log
    this.#listening.use(host.onSignal((name) => this.#onSignal(name)))
    this.#listening.use(host.onCrash((reason) => this.#onCrash(reason)))
  }

  /** Resolves when the scheduler is to stop. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** Sets what SIGHUP does from now on. */
  reloadWith(reload: () => void): void {
    this.#reload = reload
  }

  /** Starts the shutdown of the scheduler. */
  stop({ message }: Pick<CrabError, 'message'>): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#log('info', `stopping: ${message}`)
    this.#end.resolve()
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }

  #onSignal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
    if (name === 'SIGHUP') this.#reload?.()
    else if (this.#isEnding) this.#host.leave(128 + constants.signals[name])
    else this.stop({ message: name })
  }

  #onCrash(reason: unknown): void {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
    this.#log('error', `crashed: ${text}`, { kind: toCrabError(reason).kind })
    if (!this.#host.stderr.isTerminal) this.#host.stderr.write(`crabtalk: error[internal]: ${text}\n`)
    if (this.hasCrashed) this.#host.leave(CRASHED)
    this.hasCrashed = true
    this.stop({ message: 'an internal failure' })
  }
}
