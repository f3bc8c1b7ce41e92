import { abortable } from '../base/abortable.ts'

/** A lock that lets holders of the same group run concurrently, and never holders of two groups. */
export class GroupLock<Group> {
  #group: Group | undefined
  #inside = 0
  #waiting: (() => void)[] = []

  /**
   * Resolves when no other group holds the lock; disposing the result releases it, and disposing twice is
   * harmless. Throws after an abort.
   */
  async enter(group: Group, signal: AbortSignal): Promise<Disposable> {
    while (this.#inside > 0 && this.#group !== group) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      await abortable(promise, signal)
    }
    this.#group = group
    this.#inside++
    let isInside = true
    const leave = () => {
      if (isInside) this.#leave()
      isInside = false
    }
    return { [Symbol.dispose]: leave }
  }

  #leave(): void {
    if (--this.#inside > 0) return
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
