import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../base/errors.ts'
import { discardDamaged } from './lease-table.ts'
import { cancelled, closed, LeaseWaiter } from './lease-waiter.ts'
import { SharedQueues, type SharedQueuesOptions } from './shared-queues.ts'
import { isBusy, isDamaged, toDatabaseError } from './sqlite-errors.ts'
import type { Lease, Leases } from './types.ts'

/** The options of SqliteLeases. */
export interface SqliteLeasesOptions extends Omit<SharedQueuesOptions, 'now'> {
  /** Returns the current time in milliseconds since 1970; by default the system clock. */
  now?: () => number
  /** The time to wait for a database that another process keeps locked; by default 10 s. */
  busyMs?: number
}

/** The process that holds a resource. */
export interface LeaseHolder {
  /** The process id; undefined when the holder did not record it. */
  pid: number | undefined
  /** The time at which it requested the resource, ISO 8601. */
  startedAt: string
}

/**
 * Leases shared by all processes of one home (ADR 0030). Waiters of this process are woken directly, others
 * by polling.
 *
 * Nothing on disk is touched before the first use. Throws `storage` when the database cannot be used, and
 * `unavailable` when another process keeps it locked, or after disposal, which releases everything.
 */
export class SqliteLeases implements Leases, AsyncDisposable {
  readonly #options: SharedQueuesOptions & { busyMs: number }
  /**
   * The takers in order of arrival, each with its ticket, which is 0 before one is drawn. A taker stays until
   * its row is deleted.
   */
  readonly #tickets = new Map<LeaseWaiter, number>()
  /** The first ticket of each awaited resource at the last check. */
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

  /** Returns the process that currently holds a resource, if any. */
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

  /**
   * Synchronizes the rows with the takers, grants those that are first, and reschedules itself while work is
   * left.
   */
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
    const tickets = queues.exchange(
      leaving,
      entering.map(({ resource }) => resource),
    )
    for (const { taker } of leaving) this.#tickets.delete(taker)
    for (const [index, { taker }] of entering.entries()) {
      this.#tickets.set(taker, tickets[index]!)
      if (tickets[index] === 1) taker.grant() // saves checking who is ahead
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
      else if (head.ticket !== this.#heads.get(taker.resource)) this.#pollMs = MIN_POLL_MS // the queue is moving
    }
    this.#heads = heads
  }

  /** Refuses takers when a retry cannot help, and those that have waited longer than `busyMs`. */
  #recover(reason: unknown): void {
    const failure = isDamaged(reason) ? this.#discardDamaged() : reason
    const isPassing = failure === undefined || isBusy(failure) || this.#queues?.isValid === false
    const overdue = performance.now() - this.#options.busyMs
    for (const [taker, ticket] of this.#tickets) {
      const isOverdue = ticket === 0 && taker.since < overdue
      if (!isPassing || isOverdue) taker.refuse(this.#toError(failure ?? reason))
    }
  }

  /** Discards a damaged database. Returns the failure, if any. */
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
    if (!isWaiting) this.#timer.unref() // an unreleased row is freed at the latest when this process dies
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 1.5)
  }

  /** Opens the queues, and reopens them after another process removed their files. */
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
      // Remaining rows belong to a dead owner, since the liveness file is gone. The next process that finds
      // them removes them.
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
