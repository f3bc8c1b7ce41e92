import { sanitize } from '../../../core/base/sanitize.ts'
import { takeStart } from '../../../core/base/truncate.ts'
import type { Host } from '../../host.ts'

/** What goes on now, as one line of a terminal that the next one replaces; nothing of it stays, and a pipe gets none. */
export class StatusLine implements Disposable {
  readonly #host: Pick<Host, 'stderr' | 'env' | 'columns'>
  #isShown = false

  constructor(host: Pick<Host, 'stderr' | 'env' | 'columns'>) {
    this.#host = host
  }

  show(text: string): void {
    const { stderr, env, columns } = this.#host
    if (!stderr.isTerminal || env['TERM'] === 'dumb') return
    stderr.write(`${ERASE_LINE}${takeStart(sanitize(text), columns() - 3)} …`) // a second line would never be erased
    this.#isShown = true
  }

  /** Before anything else is printed. */
  clear(): void {
    if (this.#isShown) this.#host.stderr.write(ERASE_LINE)
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    this.clear()
  }
}

const ERASE_LINE = '\r\u001b[2K'
