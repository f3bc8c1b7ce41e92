import { cardOn } from '../state/focus.ts'
import type { ChatStore } from '../state/store.ts'

/** How long, milliseconds, a card must have been on the screen before a key chooses on it. */
export const SEEN_MS = 1_000
/** How long, milliseconds, no key must have been pressed before one chooses. */
export const QUIET_MS = 600

/** Calls back once, so many milliseconds later, and behind every key that was pressed by then. */
export type After = (ms: number, act: () => void) => Disposable

/** The clock of this process. What waits to be read when the time is up is read first. */
export const after: After = (ms, act) => {
  let immediate: ReturnType<typeof setImmediate> | undefined
  const timer = setTimeout(() => {
    immediate = setImmediate(act)
  }, ms)
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      clearImmediate(immediate)
    },
  }
}

/**
 * Says when keys may choose on the card: when it has been on the screen for a second and no key was pressed for 600 ms.
 *
 * Nothing that is typed without looking can be meant for a card that came up meanwhile, and what was chosen is on the
 * screen for a while before Enter counts.
 */
export class CardArming {
  readonly #store: ChatStore
  readonly #after: After
  /** The card that is on the screen. */
  #askId: string | undefined
  #isSeen = false
  #isQuiet = true
  #seeing: Disposable | undefined
  #quieting: Disposable | undefined

  constructor({ store, after }: { store: ChatStore; after: After }, signal: AbortSignal) {
    this.#store = store
    this.#after = after
    const stop = store.subscribe(() => this.#look())
    signal.addEventListener('abort', () => {
      stop()
      this.#stop()
    })
  }

  /** Keys were pressed and done with. */
  touched(): void {
    if (this.#askId === undefined) return // a card that comes up has to be seen for longer than this takes
    this.#isQuiet = false
    this.#quieting?.[Symbol.dispose]()
    this.#quieting = this.#after(QUIET_MS, () => {
      this.#isQuiet = true
      this.#tell()
    })
    this.#tell()
  }

  /** The screen is drawn anew, in another size: the card has to be seen again. */
  redrawn(): void {
    if (this.#askId === undefined) return
    this.#see()
    this.#tell()
  }

  #look(): void {
    const card = cardOn(this.#store.get())
    const askId = card?.isAnswered ? undefined : card?.askId
    if (askId === this.#askId) return
    this.#stop()
    this.#askId = askId
    this.#isQuiet = true
    if (askId !== undefined) this.#see()
    this.#tell()
  }

  #see(): void {
    this.#seeing?.[Symbol.dispose]()
    this.#isSeen = false
    this.#seeing = this.#after(SEEN_MS, () => {
      this.#isSeen = true
      this.#tell()
    })
  }

  #tell(): void {
    const isArmed = this.#isSeen && this.#isQuiet
    const armed = this.#store.get().asks.find((card) => card.isArmed)?.askId
    const askId = isArmed ? this.#askId : undefined
    if (armed !== askId) this.#store.act({ type: 'card-armed', askId })
  }

  #stop(): void {
    this.#seeing?.[Symbol.dispose]()
    this.#quieting?.[Symbol.dispose]()
    this.#isSeen = false
  }
}
