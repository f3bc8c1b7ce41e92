import { dirname } from 'node:path'
import { makePrivateDirSync } from '../base/files.ts'
import { type Head, LeaseTable, type Ticket } from './lease-table.ts'
import { isOwnerAlive, OwnerLock, ownersIn } from './owner-lock.ts'

/** The options of SharedQueues. */
export interface SharedQueuesOptions {
  /** The path of the shared database, `run/leases.db`. */
  database: string
  /** The folder of the owners' liveness files, `run/proc`. */
  proc: string
  /**
   * The id of this process, shown to processes that ask who holds a resource. Only the composition root knows
   * it.
   */
  pid?: number
  /** Returns the current time in milliseconds since 1970. */
  now: () => number
  /** Called with the resources that dead processes held, after the call that finds them. It may take leases. */
  onAbandoned?: (resources: readonly string[]) => void
}

/**
 * One process's view of the shared queues: its liveness file and the table. Errors are those of SQLite and of
 * files.
 */
export class SharedQueues implements Disposable {
  readonly #options: SharedQueuesOptions
  readonly #owner: OwnerLock
  readonly #table: LeaseTable

  /** Creates missing files, and removes those of dead owners. */
  constructor(options: SharedQueuesOptions) {
    this.#options = options
    makePrivateDirSync(dirname(options.database))
    makePrivateDirSync(options.proc)
    using stack = new DisposableStack()
    // The lock is created before any row, because a row without it counts as a dead owner's.
    this.#owner = stack.use(new OwnerLock(options.proc))
    this.#table = stack.use(new LeaseTable(options.database))
    this.#removeDead()
    stack.move()
  }

  /** False once another process removed a file, because others then no longer see what this process holds. */
  get isValid(): boolean {
    return this.#owner.isValid && this.#table.isValid
  }

  /**
   * Leaves and enters queues in one transaction, and returns the new tickets. Ticket 1 holds the resource
   * immediately.
   */
  exchange(leave: readonly Ticket[], enter: readonly string[]): number[] {
    const { pid, now } = this.#options
    return this.#table.exchange({ leave, enter }, { owner: this.#owner.id, pid, startedAt: toIso(now()) })
  }

  /**
   * Returns the first living owner in the queue, and removes dead ones before it. `alive` caches the owners
   * that were seen alive in one pass.
   */
  head(resource: string, alive: Set<string>): Head | undefined {
    for (;;) {
      const head = this.#table.head(resource)
      if (!head || this.isOurs(head) || alive.has(head.owner)) return head
      if (isOwnerAlive(this.#options.proc, head.owner)) alive.add(head.owner)
      else this.#removeOwners([head.owner])
    }
  }

  isOurs(head: Head): boolean {
    return head.owner === this.#owner.id
  }

  /** Releases every position of this process. */
  [Symbol.dispose](): void {
    using _owner = this.#owner
    using table = this.#table
    table.removeOwners([this.#owner.id])
  }

  #removeDead(): void {
    const owners = new Set([...this.#table.owners(), ...ownersIn(this.#options.proc)])
    owners.delete(this.#owner.id)
    const dead = [...owners].filter((id) => !isOwnerAlive(this.#options.proc, id))
    if (dead.length > 0) this.#removeOwners(dead)
  }

  #removeOwners(dead: readonly string[]): void {
    const resources = this.#table.removeOwners(dead)
    const { onAbandoned } = this.#options
    if (!onAbandoned || resources.length === 0) return
    // The callback may take leases, which it must not do during another call.
    queueMicrotask(() => onAbandoned(resources))
  }
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
