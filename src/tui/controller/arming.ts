import { isEntered } from '../cards/card.ts'
import { getVisibleCard, hasUnarmedOverlay } from '../state/focus.ts'
import type { ChatStore } from '../state/store.ts'

/** Calls back once after a delay in milliseconds, unless it is disposed first. */
export type ArmingTimer = (ms: number, act: () => void) => Disposable

/** The timer of this process. Keys that are already waiting to be read when the delay ends are read first. */
export const processTimer: ArmingTimer = (ms, act) => {
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
 * Arms an overlay, once, after it has been on the screen for 400 ms without a key, or immediately when the
 * user asked for it.
 */
export function overlayArming(
  { store, timer }: Pick<ArmingOptions<true>, 'store' | 'timer'>,
  signal: AbortSignal,
) {
  const shown = () => hasUnarmedOverlay(store.get()) || undefined
  const arm = (_: true | undefined, isArmed: boolean) => {
    if (isArmed) store.act({ type: 'overlay-armed' })
  }
  return new Arming({ store, timer, seenMs: 400, quietMs: 400, shown, arm }, signal)
}

/**
 * Arms the visible card while it has been on the screen for a second and no key was pressed for 600 ms. `enter`
 * presses Enter on a card where it was pressed too early, once it is armed.
 */
export function cardArming(
  { store, timer, enter }: Pick<ArmingOptions<string>, 'store' | 'timer'> & { enter(): void },
  signal: AbortSignal,
) {
  const shown = () => {
    const card = getVisibleCard(store.get())
    return card?.isAnswered ? undefined : card?.askId
  }
  const arm = (shownId: string | undefined, isArmed: boolean, isSeen: boolean) => {
    if (!isSeen && store.get().asks.some(isEntered)) store.act({ type: 'card-unseen' })
    const armed = store.get().asks.find((card) => card.isArmed)?.askId
    const askId = isArmed ? shownId : undefined
    if (armed !== askId) store.act({ type: 'card-armed', askId })
    const card = store.get().asks.find((one) => one.askId === askId)
    if (card && isEntered(card)) enter()
  }
  return new Arming({ store, timer, seenMs: 1_000, quietMs: 600, shown, arm }, signal)
}

/** A kind of element on the screen that gets no keys until the user has had time to see it. */
export interface ArmingOptions<Shown> {
  store: ChatStore
  timer: ArmingTimer
  /** The time, in milliseconds, that it must have been on the screen. */
  seenMs: number
  /** The time, in milliseconds, that must have passed since the last key. */
  quietMs: number
  /** Returns the element that is on the screen; undefined when nothing there could get keys. */
  shown(): Shown | undefined
  /**
   * Reports whether keys count on the shown element, and whether it was on the screen long enough, whenever that may
   * have changed.
   */
  arm(shown: Shown | undefined, isArmed: boolean, isSeen: boolean): void
}

/**
 * Decides when keys count on an element that has appeared: once it was on the screen long enough and no key
 * was pressed for a while. Text that the user types without looking must not be taken as an answer.
 */
export class Arming<Shown> {
  readonly #options: ArmingOptions<Shown>
  #shown: Shown | undefined
  #isSeen = false
  #isQuiet = true
  /** Whether no key was pressed since the user asked for the element. */
  #isAwaited = false
  #seeing: Disposable | undefined
  #quieting: Disposable | undefined

  constructor(options: ArmingOptions<Shown>, signal: AbortSignal) {
    this.#options = options
    const stop = options.store.subscribe(() => this.#look())
    signal.addEventListener('abort', () => {
      stop()
      this.#stop()
    })
  }

  /** Records that keys were pressed and handled. */
  touched(): void {
    this.#isAwaited = false
    if (this.#shown === undefined) return // a new element must be seen for longer than `quietMs` anyway
    this.#isQuiet = false
    this.#quieting?.[Symbol.dispose]()
    this.#quieting = this.#options.timer(this.#options.quietMs, () => {
      this.#isQuiet = true
      this.#arm()
    })
    this.#arm()
  }

  /** Records that the screen was redrawn in another size: the shown element must be seen again. */
  redrawn(): void {
    if (this.#shown === undefined) return
    this.#see()
    this.#arm()
  }

  /** Records that the user has asked for the next element, which gets keys immediately. */
  awaited(): void {
    this.#isAwaited = true
  }

  #look(): void {
    const shown = this.#options.shown()
    const isLate = this.#isAwaited && !this.#isSeen && shown !== undefined
    if (shown === this.#shown && !isLate) return
    this.#stop()
    this.#shown = shown
    this.#isQuiet = true
    if (shown !== undefined) this.#see()
    this.#arm()
  }

  #see(): void {
    this.#seeing?.[Symbol.dispose]()
    this.#isSeen = this.#isAwaited
    if (this.#isSeen) return
    this.#seeing = this.#options.timer(this.#options.seenMs, () => {
      this.#isSeen = true
      this.#arm()
    })
  }

  #arm(): void {
    this.#options.arm(this.#shown, this.#isSeen && this.#isQuiet, this.#isSeen)
  }

  #stop(): void {
    this.#seeing?.[Symbol.dispose]()
    this.#quieting?.[Symbol.dispose]()
    this.#isSeen = false
  }
}
