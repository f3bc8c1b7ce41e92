/** The program of the search worker, from source. */
export const SEARCH_WORKER = new URL(
  '../../src/core/session-search/background/worker-main.ts',
  import.meta.url,
)
