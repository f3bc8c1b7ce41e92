import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'
import type { Storage } from '../../../src/core/storage/types.ts'
import { makeHeader, tickingClock } from './samples.ts'

/** A storage with its clock. */
export interface Opened extends AsyncDisposable {
  storage: Storage
  now: () => number
}

/** Creates a session whose header has the time of creation. */
export function create(opened: Opened, over: Parameters<typeof makeHeader>[0] = {}) {
  return opened.storage.createSession(makeHeader({ created_at: toIso(opened.now()), ...over }), [])
}

/** Opens a storage in memory, for this process only. */
export async function openMemory(now = tickingClock()): Promise<Opened> {
  return { storage: new MemoryStorage({ now }), now, async [Symbol.asyncDispose]() {} }
}

/** Opens a storage in its own folder. */
export async function openDisk(now = tickingClock(), isWatched = false): Promise<Opened> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const sessions = join(dir.path, 'sessions')
  const folder = new SessionFolder({ path: sessions, isWatched })
  return {
    storage: new DiskStorage({ sessions, index: join(dir.path, 'index'), folder, now }),
    now,
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]()
      await dir.remove()
    },
  }
}

/** Opens the same over a folder that is watched. */
export function openWatched(now = tickingClock()): Promise<Opened> {
  return openDisk(now, true)
}

/** Formats a time as sessions do. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
