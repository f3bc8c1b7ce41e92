/** Lets so many do something at a time; the others wait, first come first served. */
export class Semaphore {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Waits for a slot; it is free again when what this gives is disposed. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return { [Symbol.dispose]: () => this.#leave() }
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
