/** Counts who holds something, and tells when nobody does any more. */
export class RefCount {
  #count = 0
  #quiet = Promise.withResolvers<void>()
  #isOver = false

  /** Resolves when nobody holds it any more; undefined when nobody does, or it is over. */
  get quiet(): Promise<void> | undefined {
    return this.#count > 0 && !this.#isOver ? this.#quiet.promise : undefined
  }

  /** Until it is disposed. */
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

  /** Nobody can hold it any longer. */
  end(): void {
    this.#isOver = true
    this.#quiet.resolve()
  }
}
