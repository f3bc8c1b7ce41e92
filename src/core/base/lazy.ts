/** A value that is created on first use. */
export interface Lazy<T> {
  get(): Promise<T>
  /** The pending or resolved value; undefined before the first `get()` and after a failure. */
  readonly current: Promise<T> | undefined
}

/** Creates a value on first use. After a failure the next `get()` tries again. */
export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let created: Promise<T> | undefined
  return {
    get() {
      created ??= make().catch((reason: unknown) => {
        created = undefined
        throw reason
      })
      return created
    },
    get current() {
      return created
    },
  }
}
