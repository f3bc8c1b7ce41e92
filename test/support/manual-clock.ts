import type { ArmingTimer } from '../../src/tui/controller/arming.ts'

/** A clock that stands still until it is advanced. */
export class ManualClock {
  #now = 0
  #waiting: { at: number; act: () => void }[] = []

  readonly timer: ArmingTimer = (ms, act) => {
    const one = { at: this.#now + ms, act }
    this.#waiting.push(one)
    return {
      [Symbol.dispose]: () => {
        this.#waiting = this.#waiting.filter((other) => other !== one)
      },
    }
  }

  /** Advances by `ms` milliseconds and runs the callbacks that become due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      const next = this.#waiting.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > until) break
      this.#now = next.at
      this.#waiting = this.#waiting.filter((one) => one !== next)
      next.act()
    }
    this.#now = until
  }
}
