import { SubscriptionStore } from '../core/bus/subscription-store.ts'
import { AgentStore } from '../core/config/agents.ts'
import { SqliteLeases } from '../core/lease/sqlite-leases.ts'
import { MemoryStore } from '../core/memory/memory-store.ts'
import type { ConversationStores } from '../core/runtime/leased-conversation.ts'
import { DiskStorage } from '../core/storage/disk-storage.ts'
import { SessionFolder } from '../core/storage/session-folder.ts'
import { UsageCatalog } from '../core/storage/usage-catalog.ts'
import { lazySessionIndex, type SessionSearch } from './lazy-session-index.ts'
import type { NodeContext } from './services.ts'
import { sweepAbandoned } from './sweep-leftovers.ts'

/** Everything that is stored below the home directory, behind one lease table. */
export interface NodeStores extends AsyncDisposable {
  leases: SqliteLeases
  /** Takes the exclusive lease of a resource, as `Leases.take()` does. */
  lock: SqliteLeases['take']
  stores: ConversationStores
  memory: MemoryStore
  sessionIndex: SessionSearch
  usage: UsageCatalog
  agents: AgentStore
  subscriptions: SubscriptionStore
}

/** Opens the stores of a home. Nothing is read before it is used. */
export function buildStores({ options, now, wait, shutdown }: NodeContext): NodeStores {
  const { paths, pid, daemon } = options
  let sweeping: Promise<unknown> | undefined
  const leases = new SqliteLeases({
    ...{ database: paths.leases, proc: paths.proc, pid },
    onAbandoned(resources) {
      sweeping = Promise.all([sweeping, sweepAbandoned(resources, { leases, now, wait }, shutdown)])
    },
  })
  const lock: NodeStores['lock'] = (resource, signal) => leases.take(resource, signal)
  const folder = new SessionFolder({ path: paths.sessions, isWatched: daemon !== undefined, now })
  const sessionIndex = lazySessionIndex(folder, async () => {
    const { SessionIndex } = await import('../core/session-search/session-index.ts')
    return new SessionIndex({
      folder,
      index: paths.index,
      leases,
      isLongLived: daemon !== undefined,
      worker: options.searchWorker,
      log: options.log,
    })
  })
  const storage = new DiskStorage({
    ...{ sessions: paths.sessions, index: paths.index, folder, now },
    onChange: (change) => sessionIndex.changed(change),
  })
  const memory = new MemoryStore({ folder: paths.memory, lock, now })
  return {
    leases,
    lock,
    stores: { storage, leases, cache: new Map(), memory },
    memory,
    sessionIndex,
    usage: new UsageCatalog({ folder, index: paths.index }),
    agents: new AgentStore({ paths, lock: (resource) => lock(resource, shutdown) }),
    subscriptions: new SubscriptionStore({ path: paths.subscriptions, lock }),
    async [Symbol.asyncDispose]() {
      await sessionIndex[Symbol.asyncDispose]()
      await sweeping
      folder[Symbol.dispose]()
    },
  }
}
