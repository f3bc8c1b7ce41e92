import { takeEnd, takeStart } from '../../base/truncate.ts'
import type { FoundLine } from './engine.ts'

/** The longest line that is shown whole, in UTF-16 units. */
const MAX_LINE_CHARS = 300
/** The number of characters shown before the match in a longer line. */
const LEAD_CHARS = 100

/** Truncates a long line around its match. The result does not keep the original text in memory. */
export function toLineExcerpt({ text, matchAt = 0 }: Pick<FoundLine, 'text' | 'matchAt'>): string {
  const start = Math.max(0, Math.min(matchAt - LEAD_CHARS, text.length - MAX_LINE_CHARS))
  const rest = takeEnd(text, text.length - start)
  const head = takeStart(rest, MAX_LINE_CHARS)
  return detached(`${start > 0 ? '…' : ''}${head}${head.length < rest.length ? '…' : ''}`)
}

/** Copies a text: V8 keeps a whole string in memory while a slice of it is in use. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}
