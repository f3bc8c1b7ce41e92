import { mkdirSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TextIndex } from '../../../src/core/search/text-index.ts'
import { openBackground } from '../../../src/core/session-search/background/open-background.ts'
import { FollowedSessions } from '../../../src/core/session-search/followed-sessions.ts'
import { SessionTable } from '../../../src/core/session-search/session-table.ts'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'

/**
 * A folder of sessions, an index that follows it, and two storages over it: one notifies the index of its
 * changes.
 */
export interface FollowedHome extends AsyncDisposable {
  readonly path: string
  readonly folder: SessionFolder
  readonly followed: FollowedSessions
  /** The storage of the process with the index. */
  readonly own: DiskStorage
  /** The storage of another process. */
  readonly other: DiskStorage
  /** The lines of its log. */
  readonly logged: string[]
  /** Builds another index over the same files from scratch. */
  rebuilt(): Promise<FollowedSessions>
}

export async function followedHome({ isWatched = false } = {}): Promise<FollowedHome> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const paths = { sessions: join(dir.path, 'sessions'), index: join(dir.path, 'index') }
  mkdirSync(paths.sessions)
  const logged: string[] = []
  const log = (level: string, message: string) => void logged.push(`${level} ${message}`)
  const inline = openBackground({ worker: async () => undefined, log })
  const folder = new SessionFolder({ path: paths.sessions, isWatched })
  const follow = (at: SessionFolder) =>
    new FollowedSessions({
      ...{ folder: at, worker: inline, inline, log },
      text: new TextIndex({ tailDocuments: 8, segmentDocuments: 16 }),
      table: new SessionTable(),
    })
  const followed = follow(folder)
  return {
    ...{ path: dir.path, folder, followed, logged },
    own: new DiskStorage({ ...paths, folder, onChange: (change) => followed.changed(change) }),
    other: new DiskStorage(paths),
    async rebuilt() {
      const anew = follow(new SessionFolder({ path: paths.sessions }))
      await anew.catchUp(NEVER)
      return anew
    },
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]()
      await inline[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}

/** Returns everything that matches a text: `id kind seq offset`, best first. */
export function foundBy({ text, table }: FollowedSessions, words: string): string[] {
  const hits = text.search({ text: words, limit: 1000 })
  return hits.map(
    ({ group, kind, seq, offset }) => `${table.findByGroup(group)?.id} ${kind} ${seq} ${offset}`,
  )
}

const NEVER = new AbortController().signal
