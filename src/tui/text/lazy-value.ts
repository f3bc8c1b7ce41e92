/** Returns a function that creates the value on its first call and then returns the same one. */
export function lazyValue<T>(make: () => T): () => T {
  let cached: { value: T } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}
