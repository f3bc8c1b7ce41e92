import { sanitizeLine } from '../core/base/sanitize.ts'
import { takeStart } from '../core/base/truncate.ts'
import type { Output } from './output.ts'

/** The dependencies of a status line. */
export interface StatusLineOptions {
  stderr: Output
  /** The value of TERM. */
  term: string | undefined
  /** Returns the width of the terminal; called only when the line is shown, because it takes time. */
  columns(): number
}

/**
 * A line of standard error that says what is waited for, rewritten in place and erased afterwards. It appears only on a
 * terminal, and only when the wait takes a moment.
 */
export class StatusLine implements Disposable {
  readonly #options: StatusLineOptions
  #text = ''
  #timer: NodeJS.Timeout | undefined
  #isShown = false

  constructor(options: StatusLineOptions) {
    this.#options = options
  }

  get isPossible(): boolean {
    const { stderr, term } = this.#options
    return stderr.isTerminal && term !== 'dumb'
  }

  /** Erases the line, and shows this text after a moment; an empty one is not shown. */
  show(text: string): void {
    this.clear()
    this.update(text)
  }

  /** Shows this text in place of the other one: immediately if that is visible. */
  update(text: string): void {
    if (!this.isPossible || text === '') return
    this.#text = text
    if (this.#isShown) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), DELAY_MS)
  }

  /** Erases the line. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isShown) return
    this.#isShown = false
    this.#options.stderr.write(ERASE_LINE)
  }

  [Symbol.dispose](): void {
    this.clear()
  }

  #write(): void {
    this.#isShown = true
    const { stderr, columns } = this.#options
    const shown = takeStart(sanitizeLine(this.#text), columns() - 3) // a second line would never be erased
    stderr.write(`${ERASE_LINE}${shown} …`)
  }
}

const ERASE_LINE = '\r\u001b[2K'
/** The delay in milliseconds before the line appears; faster work shows none. */
const DELAY_MS = 300
