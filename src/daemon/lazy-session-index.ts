import { CrabError } from '../core/base/errors.ts'
import type { SessionIndex } from '../core/session-search/session-index.ts'
import type { SessionMatches, SessionQuery } from '../core/session-search/types.ts'
import type { SessionFolder } from '../core/storage/session-folder.ts'
import type { SessionChange } from '../core/storage/types.ts'

/** The search over the sessions of a node, which is loaded on first use. */
export interface SessionSearch extends AsyncDisposable {
  /** Same as `SessionIndex.search()`. */
  search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches>
  /**
   * Same as `SessionIndex.changed()`. Before the first search it does nothing or, after `warm()`, opens the
   * index.
   */
  changed(change: SessionChange): void
  /** Opens the index in the background as soon as there are sessions; for long-running processes. */
  warm(): void
}

/** Returns a search whose index is created once, by `open`. */
export function lazySessionIndex(folder: SessionFolder, open: () => Promise<SessionIndex>): SessionSearch {
  let index: SessionIndex | undefined
  let opening: Promise<SessionIndex> | undefined
  let isWarm = false
  let isOver = false
  const get = async () => {
    if (isOver) throw new CrabError('cancelled', 'Cancelled: the search index is closed')
    opening ??= open().then((opened) => {
      index = opened
      return opened
    })
    return opening
  }
  const warm = () => void get().then((opened) => opened.warm(), ignore)
  return {
    search: async (query, signal) => (await get()).search(query, signal),
    changed(change) {
      if (isWarm && !opening) warm()
      index?.changed(change)
    },
    warm() {
      isWarm = true
      void folder.refresh().then((ids) => ids.length > 0 && warm(), ignore)
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      const opened = await opening?.catch(ignore)
      await opened?.[Symbol.asyncDispose]()
    },
  }
}

/** Ignores a failure, which each search reports itself. */
function ignore(): undefined {}
