/** Returns the cached value of a key, or computes it. */
export type Memoize<T> = (key: string, make: () => T) => T

/**
 * Creates a cache of the last few values, such as the lines of an immutable text by layout width. The owner
 * of the text owns the cache, too.
 */
export function memoizeLast<T>(): Memoize<T> {
  const cache = new Map<string, { value: T }>()
  return (key, make) => {
    const known = cache.get(key)
    if (known) return known.value
    const value = make()
    if (cache.size >= MOST) cache.clear()
    cache.set(key, { value })
    return value
  }
}

const MOST = 4
