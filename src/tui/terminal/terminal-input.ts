import { ReplyFilter, type TerminalReply } from './reply-filter.ts'

/** The keyboard without reports of the terminal, for Ink and for what reads keys while the terminal is lent. */
export interface TerminalInput extends Disposable {
  /** A view of the stream whose `read()` returns keys only. */
  readonly stream: NodeJS.ReadStream
}

/** The listeners of the keyboard. */
export interface InputListeners {
  /** Receives the reports of the terminal. */
  reply(reply: TerminalReply): void
  /** Called when there are keys, before they are read. */
  key(): void
}

type Listener = () => void

/**
 * Reads the keyboard, and separates reports of the terminal from keys. The beginning of a sequence waits for
 * its rest, because a slow connection may split it: Esc alone is a key only after HOLD_MS.
 */
export function filterInput(stdin: NodeJS.ReadStream, on: InputListeners): TerminalInput {
  const filter = new ReplyFilter()
  const listeners = new Set<Listener>()
  let released = ''
  let timer: NodeJS.Timeout | undefined
  const release = () => {
    released += filter.flush()
    if (released !== '') for (const listener of listeners) listener()
  }
  const read = (): string | null => {
    clearTimeout(timer)
    const before = released
    released = ''
    const piece: string | Buffer | null = stdin.read()
    if (piece === null && filter.held === '') return before === '' ? null : before
    const { keys, replies } = filter.push(piece === null ? '' : piece.toString())
    for (const reply of replies) on.reply(reply)
    if (keys !== '') on.key()
    if (filter.held !== '') timer = setTimeout(release, filter.isReport ? REPORT_MS : HOLD_MS)
    return piece === null && before === '' ? null : before + keys
  }
  const add = (event: string, listener: Listener) => {
    stdin.on(event, listener)
    if (event !== 'readable') return
    listeners.add(listener)
    if (released !== '') queueMicrotask(release) // what was read before the last listener left
  }
  const remove = (event: string, listener: Listener) => {
    stdin.off(event, listener)
    listeners.delete(listener)
  }
  const own = new Map<PropertyKey, unknown>(
    Object.entries({ read, on: add, addListener: add, off: remove, removeListener: remove }),
  )
  const stream = new Proxy(stdin, {
    get(target, key) {
      if (own.has(key)) return own.get(key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { stream, [Symbol.dispose]: () => clearTimeout(timer) }
}

/** The time, in milliseconds, that the rest of a key may take; Ink waits another 20 ms. */
const HOLD_MS = 30
/** The time that the rest of a report may take. */
const REPORT_MS = 1_000
