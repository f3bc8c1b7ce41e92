/** A reference count that reports when the last reference is disposed. */
export class RefCount {
  #count = 0
  #quiet = Promise.withResolvers<void>()
  #isOver = false

  /** Resolves when the last reference is disposed; undefined when there is none, or after end(). */
  get quiet(): Promise<void> | undefined {
    return this.#count > 0 && !this.#isOver ? this.#quiet.promise : undefined
  }

  /** Adds a reference until it is disposed. */
  hold(): Disposable {
    if (this.#count === 0) this.#quiet = Promise.withResolvers()
    this.#count++
    return {
      [Symbol.dispose]: () => {
        this.#count--
        if (this.#count === 0) this.#quiet.resolve()
      },
    }
  }

  /** Resolves `quiet` regardless of open references; it is undefined afterwards. */
  end(): void {
    this.#isOver = true
    this.#quiet.resolve()
  }
}
