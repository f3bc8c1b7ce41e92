import { CrabError } from '../core/base/errors.ts'
import type { SessionIndex } from '../core/session-search/session-index.ts'
import type { SessionMatches, SessionQuery } from '../core/session-search/types.ts'
import type { SessionFolder } from '../core/storage/session-folder.ts'
import type { SessionChange } from '../core/storage/types.ts'

/** The search over the sessions of a node; what it needs is loaded when somebody first searches. */
export interface SessionSearch extends AsyncDisposable {
  /** As SessionIndex.search(). */
  search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches>
  /** As SessionIndex.changed(); before anybody searches it is no matter. */
  changed(change: SessionChange): void
  /** Makes ready what searches need as soon as there are sessions; for what lasts. */
  warm(): void
}

/** The index that `open` makes, once. */
export function lazySessionIndex(folder: SessionFolder, open: () => Promise<SessionIndex>): SessionSearch {
  let index: SessionIndex | undefined
  let opening: Promise<SessionIndex> | undefined
  let isWarm = false
  let isOver = false
  const get = async () => {
    if (isOver) throw new CrabError('cancelled', 'Cancelled: the search index is closed')
    opening ??= open().then((made) => {
      index = made
      return made
    })
    return opening
  }
  const warm = () => void get().then((made) => made.warm(), ignore)
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
      const made = await opening?.catch(ignore)
      await made?.[Symbol.asyncDispose]()
    },
  }
}

/** Who searches is told. */
function ignore(): undefined {}
