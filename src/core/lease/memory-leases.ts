import { cancelled, closed, LeaseWaiter } from './lease-waiter.ts'
import type { Lease, Leases } from './types.ts'

/**
 * Leases within this process, for runs that store nothing.
 *
 * Disposal releases everything; later calls throw `unavailable`.
 */
export class MemoryLeases implements Leases, AsyncDisposable {
  /** The waiters per resource, in order of arrival; the first one holds it. */
  readonly #queues = new Map<string, LeaseWaiter[]>()
  #isClosed = false

  async take(resource: string, signal: AbortSignal): Promise<Lease> {
    if (this.#isClosed) throw closed(resource)
    if (signal.aborted) throw cancelled(resource, signal)
    const taker = new LeaseWaiter(resource)
    this.#enter(taker)
    try {
      await taker.granted(signal)
    } catch (reason) {
      this.#leave(taker)
      throw reason
    }
    return { [Symbol.asyncDispose]: async () => this.#leave(taker) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const taker of [...this.#queues.values()].flat()) taker.refuse(closed(taker.resource))
    this.#queues.clear()
  }

  #enter(taker: LeaseWaiter): void {
    const queue = this.#queues.get(taker.resource)
    if (queue) {
      queue.push(taker)
    } else {
      this.#queues.set(taker.resource, [taker])
      taker.grant()
    }
  }

  #leave(taker: LeaseWaiter): void {
    const queue = this.#queues.get(taker.resource)
    const index = queue?.indexOf(taker) ?? -1
    if (!queue || index < 0) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(taker.resource)
    else queue[0]?.grant()
  }
}
