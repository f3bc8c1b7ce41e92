import { cancelled, closed, Place } from './place.ts'
import type { Lease, Leases } from './types.ts'

/**
 * Leases inside this process, for runs that store nothing.
 *
 * Fails with `unavailable` after disposal, which gives everything back.
 */
export class MemoryLeases implements Leases, AsyncDisposable {
  /** Per resource, in order of arrival; the first one holds it. */
  readonly #queues = new Map<string, Place[]>()
  #isClosed = false

  async take(resource: string, signal: AbortSignal): Promise<Lease> {
    if (this.#isClosed) throw closed(resource)
    if (signal.aborted) throw cancelled(resource, signal)
    const place = new Place(resource)
    this.#enter(place)
    try {
      await place.granted(signal)
    } catch (reason) {
      this.#leave(place)
      throw reason
    }
    return { [Symbol.asyncDispose]: async () => this.#leave(place) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const place of [...this.#queues.values()].flat()) place.refuse(closed(place.resource))
    this.#queues.clear()
  }

  #enter(place: Place): void {
    const queue = this.#queues.get(place.resource)
    if (queue) {
      queue.push(place)
    } else {
      this.#queues.set(place.resource, [place])
      place.grant()
    }
  }

  #leave(place: Place): void {
    const queue = this.#queues.get(place.resource)
    const index = queue?.indexOf(place) ?? -1
    if (!queue || index < 0) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(place.resource)
    else if (index === 0) queue[0]?.grant()
  }
}
