import type { CrabError } from '../base/errors.ts'
import type { ClientMessage } from '../protocol/crabtalk.generated.ts'
import { isEndless, type Operation } from '../protocol/operations.ts'

/** The requests of one connection that are not answered yet. */
export class RunningRequests {
  readonly #running = new Map<AbortController, ClientMessage>()
  readonly #waiting = new Set<{ below: number; resolve: () => void }>()

  get size(): number {
    return this.#running.size
  }

  get messages(): Iterable<ClientMessage> {
    return this.#running.values()
  }

  /**
   * Runs the work for one request with a signal of its own; the request counts as running until the work has
   * settled.
   */
  async run(message: ClientMessage, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController()
    this.#running.set(controller, message)
    try {
      await work(controller.signal)
    } finally {
      controller.abort()
      this.#running.delete(controller)
      this.#wake()
    }
  }

  /** Resolves when fewer than `below` requests run. */
  async fewerThan(below: number): Promise<void> {
    if (this.size < below) return
    await new Promise<void>((resolve) => void this.#waiting.add({ below, resolve }))
  }

  abort(reason: CrabError): void {
    for (const controller of this.#running.keys()) controller.abort(reason)
  }

  /** Aborts subscriptions, which would not end by themselves. */
  abortEndless(reason: CrabError): void {
    for (const [controller, { msg }] of this.#running) {
      if (isEndless(msg?.$case as Operation | undefined)) controller.abort(reason)
    }
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (this.size >= waiter.below) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }
}
