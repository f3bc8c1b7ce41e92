import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'
import type { Storage } from '../../../src/core/storage/types.ts'
import { headerOf, tickingClock } from './samples.ts'

/** A storage, and the clock it has. */
export interface Opened extends AsyncDisposable {
  storage: Storage
  now: () => number
}

/** A new session whose header says the time it was made at. */
export function create(opened: Opened, over: Parameters<typeof headerOf>[0] = {}) {
  return opened.storage.createSession(headerOf({ created_at: toIso(opened.now()), ...over }), [])
}

/** Conversations of this process only. */
export async function openMemory(now = tickingClock()): Promise<Opened> {
  return { storage: new MemoryStorage({ now }), now, async [Symbol.asyncDispose]() {} }
}

/** Conversations in a folder of their own. */
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

/** The same, over a folder that is watched. */
export function openWatched(now = tickingClock()): Promise<Opened> {
  return openDisk(now, true)
}

/** A time as sessions have it. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
