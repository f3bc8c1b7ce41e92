import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import { discardDamaged } from './lease-table.ts'
import { cancelled, closed, Place } from './place.ts'
import { SharedQueues, type SharedQueuesOptions } from './shared-queues.ts'
import { isBusy, isDamaged, toDatabaseError } from './sqlite-errors.ts'
import type { Lease, Leases } from './types.ts'

export interface SqliteLeasesOptions extends Omit<SharedQueuesOptions, 'now'> {
  /** Milliseconds since the epoch; by default the clock. */
  now?: () => number
  /** How long a database that another process keeps locked is waited for. */
  busyMs?: number
}

/** Who holds a resource. */
export interface Holder {
  /** Undefined when it did not tell. */
  pid: number | undefined
  /** When it asked for the resource, ISO 8601. */
  startedAt: string
}

/**
 * Leases between all processes of one home (decision 32): waiters of this process are woken directly, others by polling.
 *
 * Nothing on disk is touched before the first use. Fails with `storage` when the database cannot be used, and with
 * `unavailable` when another process keeps it locked or after disposal, which gives everything back.
 */
export class SqliteLeases implements Leases, AsyncDisposable {
  readonly #options: SharedQueuesOptions & { busyMs: number }
  /** In order of arrival, each with its ticket: 0 while it has none. A place stays until its row is gone. */
  readonly #tickets = new Map<Place, number>()
  /** The ticket that stood first when the resource was last looked at; per resource waited for. */
  #heads = new Map<string, number>()
  #queues: SharedQueues | undefined
  #timer: NodeJS.Timeout | undefined
  #pollMs = MIN_POLL_MS
  #isClosed = false

  constructor(options: SqliteLeasesOptions) {
    this.#options = { now: Date.now, busyMs: 10_000, ...options }
  }

  async take(resource: string, signal: AbortSignal): Promise<Lease> {
    if (this.#isClosed) throw closed(resource)
    if (signal.aborted) throw cancelled(resource, signal)
    const place = new Place(resource)
    this.#tickets.set(place, 0)
    this.#pollMs = MIN_POLL_MS
    this.#step()
    try {
      await place.granted(signal)
    } catch (reason) {
      this.#leave(place)
      throw reason
    }
    return { [Symbol.asyncDispose]: async () => this.#leave(place) }
  }

  /** The process that holds a resource now, if one does. */
  async describeHolder(resource: string): Promise<Holder | undefined> {
    if (this.#isClosed) throw closed(resource)
    const deadline = performance.now() + this.#options.busyMs
    for (;;) {
      try {
        const head = this.#standingQueues().head(resource, new Set())
        return head && { pid: head.pid, startedAt: head.startedAt }
      } catch (reason) {
        if (!isBusy(reason) || performance.now() > deadline) throw this.#toError(resource, reason)
      }
      await sleep(MIN_POLL_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const place of this.#tickets.keys()) place.refuse(closed(place.resource))
    this.#tickets.clear()
    this.#closeQueues()
  }

  #leave(place: Place): void {
    place.leave()
    if (this.#tickets.has(place)) this.#step()
  }

  /** Brings the rows in line with the places, grants what has come to the front, and comes back while anything is left to do. */
  #step(): void {
    clearTimeout(this.#timer)
    try {
      const queues = this.#standingQueues()
      this.#exchange(queues)
      this.#grant(queues)
    } catch (reason) {
      this.#recover(reason)
    }
    this.#schedule()
  }

  #exchange(queues: SharedQueues): void {
    const entries = [...this.#tickets].map(([place, ticket]) => ({ place, ticket, resource: place.resource }))
    const leaving = entries.filter(({ place }) => place.hasLeft)
    const entering = entries.filter(({ place, ticket }) => ticket === 0 && !place.hasLeft)
    if (leaving.length + entering.length === 0) return
    const drawn = queues.exchange(
      leaving,
      entering.map(({ resource }) => resource),
    )
    for (const { place } of leaving) this.#tickets.delete(place)
    for (const [index, { place }] of entering.entries()) {
      this.#tickets.set(place, drawn[index]!)
      if (drawn[index] === 1) place.grant() // saves the look at who is ahead
    }
  }

  #grant(queues: SharedQueues): void {
    const heads = new Map<string, number>()
    const alive = new Set<string>()
    for (const [place, ticket] of this.#tickets) {
      if (!place.isWaiting || heads.has(place.resource)) continue
      const head = queues.head(place.resource, alive)
      heads.set(place.resource, head?.ticket ?? 0)
      if (!head) this.#tickets.set(place, 0)
      else if (head.ticket === ticket && queues.isOurs(head)) place.grant()
      else if (head.ticket !== this.#heads.get(place.resource)) this.#pollMs = MIN_POLL_MS // the queue moves
    }
    this.#heads = heads
  }

  /** Refuses those whom a later step cannot help. */
  #recover(reason: unknown): void {
    const failure = isDamaged(reason) ? this.#discardDamaged() : reason
    const isPassing = failure === undefined || isBusy(failure) || this.#queues?.isStanding === false
    const overdue = performance.now() - this.#options.busyMs
    for (const [place, ticket] of this.#tickets) {
      if (!isPassing) place.refuse(this.#toError(place.resource, failure))
      else if (ticket === 0 && place.since < overdue) place.refuse(this.#toBusyError(place.resource, failure))
    }
  }

  /** Gives the failure, if there is one. */
  #discardDamaged(): unknown {
    this.#closeQueues()
    try {
      discardDamaged(this.#options.database, this.#options.proc)
      return undefined
    } catch (reason) {
      return reason
    }
  }

  #schedule(): void {
    const places = [...this.#tickets.keys()]
    const isWaiting = places.some((place) => place.isWaiting)
    if (this.#isClosed || !(isWaiting || places.some((place) => place.hasLeft))) return
    const jitter = 0.5 + Math.random() / 2
    this.#timer = setTimeout(() => this.#step(), this.#pollMs * jitter)
    if (!isWaiting) this.#timer.unref() // what could not be given back dies with this process at the latest
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 1.5)
  }

  /** Opens what is not open, anew when files were removed from under us. */
  #standingQueues(): SharedQueues {
    if (this.#queues?.isStanding) return this.#queues
    this.#closeQueues()
    this.#queues = new SharedQueues(this.#options)
    return this.#queues
  }

  #closeQueues(): void {
    for (const place of this.#tickets.keys()) {
      if (place.hasLeft) this.#tickets.delete(place)
      else this.#tickets.set(place, 0)
    }
    try {
      this.#queues?.[Symbol.dispose]()
    } catch {
      // Rows that stay behind are a dead owner's: its sign of life is gone. Whoever meets them removes them.
    }
    this.#queues = undefined
  }

  #toError(resource: string, reason: unknown): CrabError {
    return toDatabaseError(`Cannot take ${resource}`, this.#options.database, reason)
  }

  #toBusyError(resource: string, cause: unknown): CrabError {
    const { database, busyMs } = this.#options
    return new CrabError('unavailable', `Cannot take ${resource}: ${database} was locked for ${busyMs} ms`, {
      cause,
      hint: 'another crabtalk process is stopped or stuck; end it and try again',
    })
  }
}

const MIN_POLL_MS = 1
const MAX_POLL_MS = 40
