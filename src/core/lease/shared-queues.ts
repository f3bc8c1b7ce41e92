import { dirname } from 'node:path'
import { makePrivateDirSync } from '../base/files.ts'
import { type Head, LeaseTable, type Ticket } from './lease-table.ts'
import { isOwnerAlive, OwnerLock, ownersIn } from './owner-lock.ts'

export interface SharedQueuesOptions {
  /** Path of the shared database, `run/leases.db`. */
  database: string
  /** Folder of the owners' signs of life, `run/proc`. */
  proc: string
  /** Id of this process, for whoever asks who holds a resource; only the edge knows it. */
  pid?: number
  /** Milliseconds since the epoch. */
  now: () => number
  /** Called with the resources that processes held when they died, after the call that finds them; it may take leases. */
  onAbandoned?: (resources: readonly string[]) => void
}

/** One process's part in the queues of all: its sign of life, and the table. Errors are those of SQLite and of files. */
export class SharedQueues implements Disposable {
  readonly #options: SharedQueuesOptions
  readonly #owner: OwnerLock
  readonly #table: LeaseTable

  /** Makes what is missing, and removes what the dead left. */
  constructor(options: SharedQueuesOptions) {
    this.#options = options
    makePrivateDirSync(dirname(options.database))
    makePrivateDirSync(options.proc)
    using made = new DisposableStack()
    this.#owner = made.use(new OwnerLock(options.proc)) // before any row: a row without it is a dead owner's
    this.#table = made.use(new LeaseTable(options.database))
    this.#removeDead()
    made.move()
  }

  /** False once a file was removed from under us, so that others no longer see what we hold. */
  get isValid(): boolean {
    return this.#owner.isValid && this.#table.isValid
  }

  /** Gives up places and takes new ones in one step; gives the tickets of the new ones. Ticket 1 holds at once. */
  exchange(leave: readonly Ticket[], enter: readonly string[]): number[] {
    const { pid, now } = this.#options
    return this.#table.exchange({ leave, enter }, { owner: this.#owner.id, pid, startedAt: toIso(now()) })
  }

  /** The first living owner in the queue; dead ones before it are removed. `alive` remembers whom one pass has seen. */
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

  /** Gives up every place of this process. */
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
    const held = this.#table.removeOwners(dead)
    const { onAbandoned } = this.#options
    if (!onAbandoned || held.length === 0) return
    queueMicrotask(() => onAbandoned(held)) // it may take leases, and must not do so in the middle of another call
  }
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
