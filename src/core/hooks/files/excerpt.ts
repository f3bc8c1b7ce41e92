import { takeStart } from '../../base/truncate.ts'
import type { LineRange } from './arguments.ts'

const MAX_LINES = 2_000
/** The largest excerpt without its note, in UTF-16 units. */
const MAX_CHARS = 50_000
/** The most that is shown of a line when not everything fits. */
const MAX_LINE_CHARS = 2_000

/**
 * Renders lines of a text as `read` returns them: without line numbers or carriage returns, and with a note
 * in brackets when that is not the whole text, or not exactly what the file stores. Undefined when the text
 * has fewer lines; an empty text can be shown from any line.
 */
export function excerpt(text: string, { offset, limit }: LineRange): string | undefined {
  if (text === '') return '[The file is empty.]'
  const lines = scan(text, offset, Math.min(limit ?? MAX_LINES, MAX_LINES))
  if (lines.taken.length === 0) return undefined
  const shown = fitting(lines.taken)
  const last = offset - 1 + shown.length
  const requestedEnd = Math.min(lines.total, offset - 1 + (limit ?? lines.total))
  const remarks = [
    offset > 1 || last < lines.total || shown.join('') === ''
      ? `lines ${offset}-${last} of ${lines.total}`
      : '',
    last < requestedEnd ? `continue with offset ${last + 1}` : '',
    endingRemark(lines),
    last === lines.total && !text.endsWith('\n') ? 'no newline at the end' : '',
  ].filter(Boolean)
  const note = remarks.length > 0 ? `\n[${remarks.join('; ')}]` : ''
  return shown.join('\n') + note
}

interface Scan {
  taken: string[]
  total: number
  /** The number of line feeds, and how many of them follow a carriage return. */
  feeds: number
  returns: number
}

function scan(text: string, offset: number, limit: number): Scan {
  const found: Scan = { taken: [], total: 0, feeds: 0, returns: 0 }
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start)
    const isLast = feed === -1
    const hasReturn = !isLast && feed > start && text[feed - 1] === '\r'
    if (!isLast) found.feeds++
    if (hasReturn) found.returns++
    found.total++
    if (found.total >= offset && found.taken.length < limit)
      found.taken.push(text.slice(start, isLast ? undefined : feed - Number(hasReturn)))
    start = isLast ? text.length : feed + 1
  }
  return found
}

function endingRemark({ feeds, returns }: Scan): string {
  if (returns === 0) return ''
  return returns === feeds ? 'lines end with CRLF' : 'some lines end with CRLF'
}

/**
 * Returns as many lines as fit. Long lines are truncated only when not everything fits; a single line may use
 * all of the space.
 */
function fitting(lines: readonly string[]): string[] {
  if (countChars(lines) <= MAX_CHARS) return [...lines]
  if (lines.length === 1) return [truncateLine(lines[0]!, MAX_CHARS)]
  const shown: string[] = []
  let size = 0
  for (const line of lines) {
    const short = truncateLine(line, MAX_LINE_CHARS)
    size += short.length + 1
    if (size > MAX_CHARS + 1) break
    shown.push(short)
  }
  return shown
}

function countChars(lines: readonly string[]): number {
  return lines.reduce((size, line) => size + line.length, lines.length - 1)
}

function truncateLine(line: string, length: number): string {
  if (line.length <= length) return line
  const head = takeStart(line, length)
  return `${head}[… ${line.length - head.length} more characters]`
}
