import type { Host } from './host.ts'
import { StatusLine } from './status-line.ts'

/** Waits for work; if that takes a moment, a terminal shows `text` meanwhile, and erases it afterwards. */
export async function withProgress<T>(
  host: Pick<Host, 'stderr' | 'env' | 'columns'>,
  text: string,
  work: Promise<T>,
): Promise<T> {
  using line = openStatusLine(host)
  line.show(text)
  return await work
}

/** Opens a status line on standard error. */
export function openStatusLine({
  stderr,
  env,
  columns,
}: Pick<Host, 'stderr' | 'env' | 'columns'>): StatusLine {
  return new StatusLine({ stderr, term: env['TERM'], columns })
}
