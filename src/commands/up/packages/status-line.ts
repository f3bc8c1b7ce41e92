import type { Host } from '../../../cli/host.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { takeStart } from '../../../core/base/truncate.ts'

/**
 * The current step as one transient line of a terminal: each step replaces the previous one, and nothing of
 * it stays. Prints nothing to a pipe.
 */
export class StatusLine implements Disposable {
  readonly #host: Pick<Host, 'stderr' | 'env' | 'columns'>
  #isShown = false

  constructor(host: Pick<Host, 'stderr' | 'env' | 'columns'>) {
    this.#host = host
  }

  show(text: string): void {
    const { stderr, env, columns } = this.#host
    if (!stderr.isTerminal || env['TERM'] === 'dumb') return
    stderr.write(`${ERASE_LINE}${takeStart(sanitize(text), columns() - 3)} …`) // a wrapped line could not be erased
    this.#isShown = true
  }

  /** Erases the line; call it before printing anything else. */
  clear(): void {
    if (this.#isShown) this.#host.stderr.write(ERASE_LINE)
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    this.clear()
  }
}

const ERASE_LINE = '\r\u001b[2K'
