import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import { discardDamaged } from './lease-table.ts'
import { cancelled, closed, LeaseWaiter } from './lease-waiter.ts'
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
export interface LeaseHolder {
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
  /** In order of arrival, each with its ticket: 0 while it has none. A taker stays until its row is gone. */
  readonly #tickets = new Map<LeaseWaiter, number>()
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
    const taker = new LeaseWaiter(resource)
    this.#tickets.set(taker, 0)
    this.#pollMs = MIN_POLL_MS
    this.#step()
    try {
      await taker.granted(signal)
    } catch (reason) {
      this.#leave(taker)
      throw reason
    }
    return { [Symbol.asyncDispose]: async () => this.#leave(taker) }
  }

  /** The process that holds a resource now, if one does. */
  async describeHolder(resource: string): Promise<LeaseHolder | undefined> {
    if (this.#isClosed) throw closed(resource)
    const deadline = performance.now() + this.#options.busyMs
    for (;;) {
      try {
        const head = this.#openQueues().head(resource, new Set())
        return head && { pid: head.pid, startedAt: head.startedAt }
      } catch (reason) {
        if (isBusy(reason) && performance.now() < deadline) await sleep(MIN_POLL_MS)
        else throw toDatabaseError(`Cannot see who holds ${resource}`, this.#options.database, reason)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const taker of this.#tickets.keys()) taker.refuse(closed(taker.resource))
    this.#tickets.clear()
    this.#closeQueues()
  }

  #leave(taker: LeaseWaiter): void {
    taker.leave()
    const ticket = this.#tickets.get(taker)
    if (ticket === 0) this.#tickets.delete(taker)
    else if (ticket !== undefined) this.#step()
  }

  /** Brings the rows in line with the takers, grants what has come to the front, and comes back while anything is left to do. */
  #step(): void {
    clearTimeout(this.#timer)
    try {
      const queues = this.#openQueues()
      this.#exchange(queues)
      this.#grant(queues)
    } catch (reason) {
      this.#recover(reason)
    }
    this.#schedule()
  }

  #exchange(queues: SharedQueues): void {
    const entries = [...this.#tickets].map(([taker, ticket]) => ({ taker, ticket, resource: taker.resource }))
    const leaving = entries.filter(({ taker }) => taker.hasLeft)
    const entering = entries.filter(({ taker, ticket }) => ticket === 0 && !taker.hasLeft)
    if (leaving.length + entering.length === 0) return
    const drawn = queues.exchange(
      leaving,
      entering.map(({ resource }) => resource),
    )
    for (const { taker } of leaving) this.#tickets.delete(taker)
    for (const [index, { taker }] of entering.entries()) {
      this.#tickets.set(taker, drawn[index]!)
      if (drawn[index] === 1) taker.grant() // saves the look at who is ahead
    }
  }

  #grant(queues: SharedQueues): void {
    const heads = new Map<string, number>()
    const alive = new Set<string>()
    for (const [taker, ticket] of this.#tickets) {
      if (!taker.isWaiting || heads.has(taker.resource)) continue
      const head = queues.head(taker.resource, alive)
      heads.set(taker.resource, head?.ticket ?? 0)
      if (!head) this.#tickets.set(taker, 0)
      else if (head.ticket === ticket && queues.isOurs(head)) taker.grant()
      else if (head.ticket !== this.#heads.get(taker.resource)) this.#pollMs = MIN_POLL_MS // the queue moves
    }
    this.#heads = heads
  }

  /** Refuses those whom a later step cannot help, and those who have waited long enough for it. */
  #recover(reason: unknown): void {
    const failure = isDamaged(reason) ? this.#discardDamaged() : reason
    const isPassing = failure === undefined || isBusy(failure) || this.#queues?.isValid === false
    const overdue = performance.now() - this.#options.busyMs
    for (const [taker, ticket] of this.#tickets) {
      const isOverdue = ticket === 0 && taker.since < overdue
      if (!isPassing || isOverdue) taker.refuse(this.#toError(failure ?? reason))
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
    const takers = [...this.#tickets.keys()]
    const isWaiting = takers.some((taker) => taker.isWaiting)
    if (this.#isClosed || !(isWaiting || takers.some((taker) => taker.hasLeft))) return
    const jitter = 0.5 + Math.random() / 2
    this.#timer = setTimeout(() => this.#step(), this.#pollMs * jitter)
    if (!isWaiting) this.#timer.unref() // what could not be given back dies with this process at the latest
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 1.5)
  }

  /** Opens what is not open, anew when files were removed from under us. */
  #openQueues(): SharedQueues {
    if (this.#queues?.isValid) return this.#queues
    this.#closeQueues()
    this.#queues = new SharedQueues(this.#options)
    return this.#queues
  }

  #closeQueues(): void {
    for (const taker of this.#tickets.keys()) {
      if (taker.hasLeft) this.#tickets.delete(taker)
      else this.#tickets.set(taker, 0)
    }
    try {
      this.#queues?.[Symbol.dispose]()
    } catch {
      // Rows that stay behind are a dead owner's: its sign of life is gone. Whoever meets them removes them.
    }
    this.#queues = undefined
  }

  #toError(reason: unknown): CrabError {
    const { database, busyMs } = this.#options
    const what = `Cannot take a lease in ${database}`
    if (!isBusy(reason)) return toDatabaseError(what, database, reason)
    return new CrabError('unavailable', `${what}: ${database} was locked for ${busyMs} ms`, {
      cause: reason,
      hint: 'another crabtalk process is stopped or stuck; end it and try again',
    })
  }
}

const MIN_POLL_MS = 1
const MAX_POLL_MS = 60
