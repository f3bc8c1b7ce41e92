/** The result of a search. */
export interface CollectedItems<T> {
  items: T[]
  /** The reason there may be more items; undefined when these are all. */
  stopped: string | undefined
}

/** The limits of one search. */
export interface CollectOptions {
  /** The number of items at which the search stops. */
  maxItems: number
  timeLimitMs: number
}

/**
 * Collects the results of a search until the number or the time limit is reached. An abort of `signal`
 * throws.
 */
export async function collectMatches<T>(
  search: (signal: AbortSignal) => AsyncIterable<T>,
  { maxItems, timeLimitMs }: CollectOptions,
  signal: AbortSignal,
): Promise<CollectedItems<T>> {
  const limit = AbortSignal.timeout(timeLimitMs)
  const items: T[] = []
  try {
    for await (const item of search(AbortSignal.any([signal, limit]))) {
      items.push(item)
      if (items.length >= maxItems) return { items, stopped: `after ${maxItems} results` }
    }
    return { items, stopped: undefined }
  } catch (reason) {
    if (signal.aborted || !limit.aborted) throw reason
    return { items, stopped: `after ${timeLimitMs / 1000} s` }
  }
}
