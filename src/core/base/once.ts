/** A value that is made when it is first asked for. */
export interface Once<T> {
  get(): Promise<T>
  /** Undefined as long as nobody asked, and after a failure. */
  readonly made: Promise<T> | undefined
}

/** Makes a value when it is first asked for; a failed attempt is made again by the next who asks. */
export function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined
  return {
    get() {
      made ??= make().catch((reason: unknown) => {
        made = undefined
        throw reason
      })
      return made
    },
    get made() {
      return made
    },
  }
}
