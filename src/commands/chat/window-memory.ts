import { join } from 'node:path'
import { newUlid } from '../../core/base/ids.ts'
import { lazy } from '../../core/base/lazy.ts'
import type { WindowMemory } from '../../tui/ports.ts'

/** Returns a sender for one conversation of a window. Its turns are of the local class. */
export function newWindowSender(): string {
  return `sh:${newUlid()}`
}

/** Opens what the windows of a home remember, below its cache. Nothing is read or written before it is used. */
export function openWindowMemory(cache: string): WindowMemory {
  const drafts = lazy(async () =>
    (await import('./drafts.ts')).openDrafts(join(cache, 'chat', 'drafts'), { id: newUlid(), now: Date.now }),
  )
  const looked = lazy(() => import('../../cli/looked-at.ts'))
  return {
    saveDraft: async (draft) => (await drafts.get()).save(draft),
    readDrafts: async () => (await drafts.get()).readOthers(),
    removeDraft: async (id) => (await drafts.get()).remove(id),
    markLookedAt: async (session) => (await looked.get()).markLookedAt(cache, session, Date.now()),
    readLookedAt: async () => (await looked.get()).readLookedAt(cache),
  }
}
