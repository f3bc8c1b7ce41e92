import { sanitize } from '../core/base/sanitize.ts'
import { takeStart } from '../core/base/truncate.ts'
import type { Host } from './host.ts'

/** Waits for work; if that takes a moment, a terminal shows `text` meanwhile, and erases it afterwards. */
export async function withProgress<T>(
  { stderr, env, columns }: Pick<Host, 'stderr' | 'env' | 'columns'>,
  text: string,
  work: Promise<T>,
): Promise<T> {
  if (!stderr.isTerminal || env['TERM'] === 'dumb') return await work
  let isShown = false
  const timer = setTimeout(() => {
    isShown = true
    stderr.write(`${ERASE_LINE}${takeStart(sanitize(text), columns() - 3)} …`) // a second line would never be erased
  }, DELAY_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
    if (isShown) stderr.write(ERASE_LINE)
  }
}

const ERASE_LINE = '\r\u001b[2K'
const DELAY_MS = 300
