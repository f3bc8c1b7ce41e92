/** A value that is made when it is first asked for. */
export interface Lazy<T> {
  get(): Promise<T>
  /** Undefined as long as nobody asked, and after a failure. */
  readonly current: Promise<T> | undefined
}

/** Makes a value when it is first asked for; a failed attempt is made again by the next who asks. */
export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined
  return {
    get() {
      made ??= make().catch((reason: unknown) => {
        made = undefined
        throw reason
      })
      return made
    },
    get current() {
      return made
    },
  }
}
