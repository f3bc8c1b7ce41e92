import { completeHeld, endsInPaste, type HeldInput, splitBursts } from './key-bursts.ts'

export interface KeyInputOptions {
  stdin: NodeJS.ReadStream
  /** Whether Esc would interrupt something now. */
  escInterrupts(): boolean
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
}

/**
 * Wraps standard input: it delivers split sequences of keys whole, and marks unmarked pastes of several lines. It
 * reads only while it has a listener, so that another reader can have the terminal.
 */
export function joinKeyInput(options: KeyInputOptions): NodeJS.ReadStream {
  const input = new KeyInput(options)
  return new Proxy(options.stdin, {
    get(stdin, name) {
      if (name === 'read') return () => input.read()
      if (name === 'on' || name === 'addListener') return listening(stdin, name, (on) => input.listen(on))
      if (name === 'off' || name === 'removeListener')
        return listening(stdin, name, (off) => input.unlisten(off))
      const value: unknown = Reflect.get(stdin, name, stdin)
      return typeof value === 'function' ? value.bind(stdin) : value
    },
  })
}

type Listener = () => void

/** Wraps a method that adds or removes listeners: those of `readable` are the input's own. */
function listening(
  stdin: NodeJS.ReadStream,
  name: 'on' | 'addListener' | 'off' | 'removeListener',
  readable: (listener: Listener) => void,
) {
  return (event: string, listener: Listener) => {
    if (event === 'readable') readable(listener)
    else stdin[name](event, listener)
  }
}

class KeyInput {
  readonly #options: KeyInputOptions
  readonly #listeners = new Set<Listener>()
  #ready = ''
  #held: HeldInput | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isInPaste = false
  /** The last bytes that were passed on, which may hold the beginning of a paste's mark. */
  #tail = ''
  #textAt = Number.NEGATIVE_INFINITY

  constructor(options: KeyInputOptions) {
    this.#options = options
  }

  /** Returns what can be interpreted; null when there is nothing. */
  read(): string | null {
    const bytes = this.#ready
    this.#ready = ''
    return bytes === '' ? null : bytes
  }

  /** Adds a listener, which also gets what was read before the last one left. */
  listen(listener: Listener): void {
    if (this.#listeners.size === 0) {
      this.#options.stdin.on('readable', this.#take)
      this.#hold(this.#held)
      if (this.#ready !== '') queueMicrotask(() => this.#notify())
    }
    this.#listeners.add(listener)
  }

  unlisten(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size > 0) return
    this.#options.stdin.off('readable', this.#take)
    clearTimeout(this.#timer)
  }

  readonly #take = (): void => {
    const { stdin, elapsed, escInterrupts } = this.#options
    for (let chunk: unknown = stdin.read(); chunk !== null; chunk = stdin.read()) {
      const sinceTextMs = elapsed() - this.#textAt
      const context = {
        held: this.#held,
        isInPaste: this.#isInPaste,
        sinceTextMs,
        escInterrupts: escInterrupts(),
      }
      const { ready, held } = splitBursts(String(chunk), context)
      this.#hold(held)
      this.#pass(ready)
    }
    this.#notify()
  }

  #hold(held: HeldInput | undefined): void {
    clearTimeout(this.#timer)
    this.#held = held
    if (held) this.#timer = setTimeout(this.#complete, held.waitMs)
  }

  readonly #complete = (): void => {
    const held = this.#held
    this.#held = undefined
    if (held) this.#pass(completeHeld(held))
    this.#notify()
  }

  #pass(bytes: string): void {
    if (bytes === '') return
    this.#isInPaste = endsInPaste(bytes, this.#tail, this.#isInPaste)
    this.#tail = (this.#tail + bytes).slice(1 - MARK_LENGTH)
    this.#textAt = this.#options.elapsed()
    this.#ready += bytes
  }

  #notify(): void {
    if (this.#ready !== '') for (const listener of this.#listeners) listener()
  }
}

/** The length of a mark of a paste. */
const MARK_LENGTH = 6
