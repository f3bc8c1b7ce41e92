import { pluralize } from '../../../core/base/format.ts'
import { cleanText } from '../clean.ts'
import { paint, type TextStyle } from '../style.ts'
import { truncateText } from '../text.ts'
import type { RenderContext } from '../view.ts'

/** The part of an output that is shown: its last lines, its first ones, or those from its first error on. */
export type ExcerptPart = 'end' | 'start' | 'error'

interface ExcerptOptions {
  part: ExcerptPart
  /** The maximum number of lines. */
  most: number
  style: TextStyle
}

/** Renders some lines of an output, and how many there are besides. */
export function renderExcerpt(
  output: string,
  { part, most, style }: ExcerptOptions,
  face: Pick<RenderContext, 'columns' | 'color' | 'isPlain'>,
): string[] {
  const { columns, color } = face
  const lines = toLines(output, part)
  if (part === 'end' && lines.length > most + 1) return renderEnd(lines, { most, style }, face)
  const isWhole = lines.length <= most + 1
  const error = part === 'error' && !isWhole ? findError(lines) : -1
  const last = Math.max(0, lines.length - most)
  const start = isWhole || part === 'start' ? 0 : error >= 0 ? error : last
  const shown = isWhole ? lines : takeError(lines.slice(start, start + most), error >= 0)
  const rows = shown.map((line) => paint(truncateText(line, columns), color, style))
  const left = lines.length - shown.length
  if (left === 0) return rows
  const more = renderMore(left, face)
  return start === last ? [more, ...rows] : [...rows, more]
}

/** Renders the last lines that are not blank; of a test run, those that count what passed and failed. */
function renderEnd(
  lines: readonly string[],
  { most, style }: Omit<ExcerptOptions, 'part'>,
  face: Pick<RenderContext, 'columns' | 'color' | 'isPlain'>,
): string[] {
  const filled = lines.filter((line) => line.trim() !== '')
  const counts = filled.slice(-SUMMARY_LINES).filter((line) => COUNTED.test(line.slice(0, MAX_LINE_CHARS)))
  const shown = (counts.length > 0 ? counts : filled).slice(-most)
  const rows = shown.map((line) => paint(truncateText(line, face.columns), face.color, style))
  return [renderMore(lines.length - shown.length, face), ...rows]
}

/** The lines at the end of an output in which the summary of a test run is looked for. */
const SUMMARY_LINES = 8

/** Lines in which a test runner counts tests: `tests 9`, `pass 9`, `9 passed`, `2 failed`. */
const COUNTED = /\b(?:\d+ (?:pass|fail)(?:ed|ing|ures?)?|(?:tests?|pass|fail)(?:ed|ures?)?:? +\d+)\b/i

function renderMore(
  count: number,
  { columns, color, isPlain }: Pick<RenderContext, 'columns' | 'color' | 'isPlain'>,
): string {
  const text = `… ${pluralize(count, 'line')}${isPlain ? '' : ' (Ctrl+O)'}`
  return paint(truncateText(text, columns), color, 'dim')
}

/** Leaves out the tests that passed after an error. */
function takeError(lines: readonly string[], isError: boolean): readonly string[] {
  const passed = isError ? lines.findIndex((line) => PASSED.test(line)) : -1
  return passed > 0 ? lines.slice(0, passed) : lines
}

/** Lines that test runners print for a test that passed. */
const PASSED = /^\s*(?:[✔✓√]|ok \d|PASS\b|--- PASS)/

/** Splits an output into clean lines. The start of a very long one is only counted where its end is shown. */
function toLines(output: string, part: ExcerptPart): string[] {
  if (output.trim() === '') return []
  const near = part === 'end' ? output.slice(-MAX_CHARS) : output.slice(0, MAX_CHARS)
  const lines = cleanText(near).replace(/^\n+/, '').trimEnd().split('\n')
  const others = Array.from({ length: countBreaks(output) - countBreaks(near) }, () => '')
  return part === 'end' ? [...others, ...lines] : [...lines, ...others]
}

/** The maximum characters of an output that are processed. */
const MAX_CHARS = 50_000

function countBreaks(text: string): number {
  let count = 0
  const end = text.trimEnd().length
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Finds the first line that reports an error; -1 when there is none. */
function findError(lines: readonly string[]): number {
  const at = lines.findIndex((line) => ERRORS.some((pattern) => pattern.test(line.slice(0, MAX_LINE_CHARS))))
  if (at < 0 || !/^\s*Traceback \(/.test(lines[at]!)) return at
  const indent = /^\s*/.exec(lines[at]!)![0].length
  const cause = lines.findIndex(
    (line, index) => index > at && line.search(/\S/) >= 0 && line.search(/\S/) <= indent,
  )
  return cause < 0 ? at : cause
}

const MAX_LINE_CHARS = 500

/** Lines that compilers, test runners and interpreters begin an error with. */
const ERRORS: readonly RegExp[] = [
  /^\s*(?:✖|✗|✘|×|●|not ok\b)\s*(?!failing tests)\S/,
  /(?:^|[\s\w:.)\]])(?:error|fatal|panic)(?:\[\w+\]| [A-Z]+\d+)?: /i,
  /^\s*(?:\w+\.)*\w*(?:Error|Exception)\b(?!s)/,
  /^\s*(?:--- )?FAIL(?:ED|URE)?\b/,
  /\bpanicked at\b/,
  /^\s*Traceback \(/,
  /: (?:command )?not found$/,
]
