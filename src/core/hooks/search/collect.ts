/** What a search gave. */
export interface CollectedItems<T> {
  items: T[]
  /** Why there may be more; undefined when this is all. */
  stopped: string | undefined
}

export interface CollectOptions {
  /** Then the search stops. */
  maxItems: number
  timeLimitMs: number
}

/** Gathers what a search gives, until there is enough or the time is over. An abort of `signal` fails. */
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
