import { join } from 'node:path'
import type { Log } from '../../src/core/base/log.ts'
import { SqliteLeases } from '../../src/core/lease/sqlite-leases.ts'
import { MemoryStore } from '../../src/core/memory/memory-store.ts'
import { SessionIndex } from '../../src/core/session-search/session-index.ts'
import { DiskStorage } from '../../src/core/storage/disk-storage.ts'
import { SessionFolder } from '../../src/core/storage/session-folder.ts'
import { SEARCH_WORKER } from './search-worker.ts'

/** The conversations and memory of one home in one process, and the search over both. */
export interface SearchHome extends AsyncDisposable {
  readonly storage: DiskStorage
  readonly index: SessionIndex
  readonly memory: MemoryStore
}

/** Opens a home like a daemon, except that checkpoints are written continuously; or like a command. */
export function openSearchHome(home: string, { isDaemon, log }: { isDaemon: boolean; log: Log }): SearchHome {
  const sessions = join(home, 'sessions')
  const run = join(home, 'run')
  const leases = new SqliteLeases({ database: join(run, 'leases.db'), proc: join(run, 'proc') })
  const folder = new SessionFolder({ path: sessions, isWatched: isDaemon })
  const index = new SessionIndex({
    ...{ folder, index: join(home, 'index'), leases, log },
    worker: async () => SEARCH_WORKER,
    isLongLived: isDaemon,
    ...(isDaemon && { worthSaving: 1, saveAfterMs: 1, patienceMs: 60_000 }),
  })
  const storage = new DiskStorage({
    ...{ sessions, index: join(home, 'index'), folder },
    onChange: (change) => index.changed(change),
  })
  const memory = new MemoryStore({
    folder: join(home, 'memory'),
    lock: (resource, signal) => leases.take(resource, signal),
    now: Date.now,
  })
  return {
    storage,
    index,
    memory,
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
      await leases[Symbol.asyncDispose]()
    },
  }
}
