import type { SessionIndex } from '../core/session-search/session-index.ts'
import type { SessionMatches, SessionQuery } from '../core/session-search/types.ts'
import type { SessionChange } from '../core/storage/types.ts'

/** The search over the sessions of a node; what it needs is loaded when somebody first searches. */
export interface SessionSearch extends AsyncDisposable {
  /** As SessionIndex.search(). */
  search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches>
  /** As SessionIndex.changed(); before anybody searches it is no matter. */
  changed(change: SessionChange): void
  /** Begins to make ready what a search needs; whatever goes wrong is told to the one who searches. */
  openSoon(): void
}

/** The index that `open` makes, once. */
export function lazySessionIndex(open: () => Promise<SessionIndex>): SessionSearch {
  let index: SessionIndex | undefined
  let opening: Promise<SessionIndex> | undefined
  const get = () => {
    opening ??= open().then((made) => {
      index = made
      return made
    })
    return opening
  }
  return {
    search: async (query, signal) => (await get()).search(query, signal),
    changed: (change) => index?.changed(change),
    openSoon: () => void get().catch(() => undefined),
    async [Symbol.asyncDispose]() {
      const made = await opening?.catch(() => undefined)
      await made?.[Symbol.asyncDispose]()
    },
  }
}
