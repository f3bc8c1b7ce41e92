import { CrabError } from '../core/base/errors.ts'
import type { LeaseHolder } from '../core/lease/sqlite-leases.ts'
import type { Lease, Leases } from '../core/lease/types.ts'
import { acquireWithin } from '../core/runtime/acquire-within.ts'
import type { Journals } from '../core/runtime/live/journals.ts'
import type { Pair } from '../core/storage/types.ts'

/** The way in which a client follows a pair. */
export interface FollowMode {
  /** A person types in it. */
  isWindow: boolean
  /** Refuse to follow when another window does. */
  isExclusive: boolean
}

interface FollowersOptions {
  leases: Leases & { describeHolder(resource: string): Promise<LeaseHolder | undefined> }
  journals: Pick<Journals, 'followersChanged'>
}

interface PairFollowers {
  clients: number
  windows: number
  /** Held while a window of this process follows the pair. */
  lease?: Lease
  /** Whether a window of another process holds the lease. */
  isOpenElsewhere: boolean
}

/**
 * Counts the clients that follow each pair, and notifies the followers when the number changes.
 *
 * Windows of other processes are found by a lease that the first window of each process tries to take: its
 * holder is known to all, but the holder does not learn who comes after it (ADR 0184).
 */
export class Followers {
  readonly #leases: FollowersOptions['leases']
  readonly #journals: FollowersOptions['journals']
  readonly #pairs = new Map<string, PairFollowers>()

  constructor({ leases, journals }: FollowersOptions) {
    this.#leases = leases
    this.#journals = journals
  }

  /** Adds a follower until the result is disposed. Throws `conflict` when an exclusive follower finds another window. */
  async enter(pair: Pair, mode: FollowMode, signal: AbortSignal): Promise<AsyncDisposable> {
    const key = toKey(pair)
    const found = this.#pairs.get(key) ?? { clients: 0, windows: 0, isOpenElsewhere: false }
    if (mode.isExclusive && found.windows > 0) throw openElsewhere()
    this.#pairs.set(key, found)
    found.clients++
    if (mode.isWindow) found.windows++
    const leave = () => this.#leave(pair, found, mode)
    try {
      if (mode.isWindow) await this.#lease(key, found, signal)
      if (mode.isExclusive && found.isOpenElsewhere) throw openElsewhere()
    } catch (reason) {
      await leave()
      throw reason
    }
    if (found.clients > 1) this.#journals.followersChanged(pair)
    return { [Symbol.asyncDispose]: leave }
  }

  /** Whether no pair is followed. */
  get isIdle(): boolean {
    return this.#pairs.size === 0
  }

  /** Returns the number of clients that follow a pair, and the number of windows among them. */
  count(pair: Pair): { clients: number; windows: number } {
    const { clients = 0, windows = 0, isOpenElsewhere = false } = this.#pairs.get(toKey(pair)) ?? {}
    const others = isOpenElsewhere ? 1 : 0
    return { clients: clients + others, windows: windows + others }
  }

  async #lease(key: string, found: PairFollowers, signal: AbortSignal): Promise<void> {
    if (found.lease || found.isOpenElsewhere) return
    const resource = `window:${key}`
    try {
      const take = (soon: AbortSignal) => this.#leases.take(resource, soon)
      const lease = await acquireWithin(
        take,
        { what: 'Cannot open the window', withinMs: AT_ONCE_MS },
        signal,
      )
      if (found.lease || found.windows === 0) await lease[Symbol.asyncDispose]()
      else found.lease = lease
    } catch (reason) {
      if (signal.aborted) throw reason
      // Without a usable lease database nothing is known of other processes; turns report why.
      const holder = await this.#leases.describeHolder(resource).catch(() => undefined)
      found.isOpenElsewhere = holder !== undefined
    }
  }

  async #leave(pair: Pair, found: PairFollowers, { isWindow }: FollowMode): Promise<void> {
    found.clients--
    if (isWindow) found.windows--
    if (found.clients === 0) this.#pairs.delete(toKey(pair))
    else this.#journals.followersChanged(pair)
    if (found.windows > 0) return
    const { lease } = found
    delete found.lease
    found.isOpenElsewhere = false
    await lease?.[Symbol.asyncDispose]()
  }
}

/** Milliseconds to wait for a free lease: taking one takes far less. */
const AT_ONCE_MS = 150

function toKey({ agentId, sender }: Pair): string {
  return `${agentId}:${sender}`
}

function openElsewhere(): CrabError {
  return new CrabError('conflict', 'Cannot open the conversation exclusively: another window has it open', {
    hint: 'open it with crabtalk --resume to share it',
  })
}
