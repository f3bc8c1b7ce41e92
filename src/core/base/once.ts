/** A value that is made when it is first asked for; a failed attempt is made again by the next who asks. */
export function once<T>(make: () => Promise<T>): {
  get(): Promise<T>
  readonly made: Promise<T> | undefined
} {
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
