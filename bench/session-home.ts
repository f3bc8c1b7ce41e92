import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newUlid } from '../src/core/base/ids.ts'
import { MemoryLeases } from '../src/core/lease/memory-leases.ts'
import { SessionIndex } from '../src/core/session-search/session-index.ts'
import { encodeHeader, encodeLines } from '../src/core/storage/session-file.ts'
import { SessionFolder } from '../src/core/storage/session-folder.ts'
import { toSessionFile, toSessionPrefix } from '../src/core/storage/session-id.ts'
import { type NewLine, SESSION_VERSION } from '../src/core/storage/types.ts'
import { SEARCH_WORKER } from '../test/support/search-worker.ts'

/** A session to store. */
export interface StoredSession {
  /** The time of all its lines, in milliseconds since 1970. */
  at: number
  lines: readonly NewLine[]
}

/** Writes sessions of one pair into a home and returns their ids, in order. */
export function writeSessions(home: string, sessions: Iterable<StoredSession>): string[] {
  const folder = join(home, 'sessions')
  mkdirSync(folder, { recursive: true })
  const pair = { agentId: newUlid(), sender: 'bench' }
  const prefix = toSessionPrefix(pair)
  const ids: string[] = []
  for (const { at, lines } of sessions) {
    const header = {
      ...{ v: SESSION_VERSION, agent: 'crab', agent_id: pair.agentId, created_by: pair.sender },
      ...{ created_at: new Date(at).toISOString(), cwd: home },
    }
    const id = prefix + newUlid()
    writeFileSync(join(folder, toSessionFile(id)), encodeHeader(header) + encodeLines(lines, 0, at).join(''))
    ids.push(id)
  }
  return ids
}

/** Opens the search over a home's sessions in this process, configured as in a daemon. */
export function openSessionIndex(home: string, options: { reranks?: boolean } = {}): SessionIndex {
  const index = join(home, 'index')
  mkdirSync(index, { recursive: true })
  const folder = new SessionFolder({ path: join(home, 'sessions'), isWatched: true })
  const log = (level: string, text: string) => console.error(`${level}: ${text}`)
  const leases = new MemoryLeases()
  return new SessionIndex({
    folder,
    index,
    leases,
    isLongLived: true,
    worker: async () => SEARCH_WORKER,
    log,
    ...options,
  })
}
