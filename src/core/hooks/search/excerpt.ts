import { takeEnd, takeStart } from '../../base/truncate.ts'
import type { FoundLine } from './engine.ts'

/** Longest line that is shown whole, UTF-16 units. */
const MAX_LINE_CHARS = 300
/** What is shown of a longer one before its match. */
const LEAD_CHARS = 100

/** A line as it is shown: a long one around its match. It holds no other text in memory. */
export function toLineExcerpt({ text, matchAt = 0 }: Pick<FoundLine, 'text' | 'matchAt'>): string {
  const start = Math.max(0, Math.min(matchAt - LEAD_CHARS, text.length - MAX_LINE_CHARS))
  const rest = takeEnd(text, text.length - start)
  const head = takeStart(rest, MAX_LINE_CHARS)
  return detached(`${start > 0 ? '…' : ''}${head}${head.length < rest.length ? '…' : ''}`)
}

/** V8 keeps the whole of a text as long as a piece that was cut from it is in use. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}
