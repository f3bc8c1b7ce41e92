/** Gives what was made under a key before, or makes it. */
export type Memoize<T> = (key: string, make: () => T) => T

/**
 * Remembers the last few values that were made: lines of a text that never changes, by the width they were laid out for.
 * Who holds the text holds this, too.
 */
export function memoizeLast<T>(): Memoize<T> {
  const made = new Map<string, { value: T }>()
  return (key, make) => {
    const known = made.get(key)
    if (known) return known.value
    const value = make()
    if (made.size >= MOST) made.clear()
    made.set(key, { value })
    return value
  }
}

const MOST = 4
