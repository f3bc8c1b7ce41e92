/** The URL of the search worker's program, from source. */
export const SEARCH_WORKER = new URL(
  '../../src/core/session-search/background/worker-main.ts',
  import.meta.url,
)
