import type { ToolRun } from '../../state/types.ts'
import { cleanLine, cleanText } from '../clean.ts'
import { paint, type TextStyle } from '../style.ts'
import { measureWidth, truncateText, wrapLines } from '../text.ts'
import type { RenderContext } from '../view.ts'
import { computeChange } from './change.ts'
import { renderDetails } from './details.ts'
import { renderDiff } from './diff.ts'
import { toHeadline } from './headline.ts'
import { describeOutcome } from './outcome.ts'

/** Lines of a diff that are shown, and with details. */
const DIFF_LINES = 20
const DIFF_LINES_IN_DETAIL = 200
/** Lines of a failure that are shown. */
const REASON_LINES = 4

/** What stands before a line that belongs to the one above. */
const INDENT = '  '

/** A finished call: its line, and below it what it changed, or why it failed. */
export function renderTool(tool: ToolRun, view: RenderContext): string[] {
  const change = computeChange(tool)
  const inner = { ...view, columns: Math.max(1, view.columns - INDENT.length) }
  const most = view.isWhole ? Number.POSITIVE_INFINITY : view.details ? DIFF_LINES_IN_DETAIL : DIFF_LINES
  const diff = tool.state === 'done' ? renderDiff(change, most, inner) : []
  const below = [...diff, ...renderReason(tool, inner), ...(view.details ? renderDetails(tool, inner) : [])]
  return [renderToolLine(tool, describeOutcome(tool, change), view), ...indent(below, view.columns)]
}

/** A call on one line: a mark for its state, what it does, and what came of it. */
export function renderToolLine(
  tool: ToolRun,
  outcome: readonly string[],
  { columns, color }: RenderContext,
): string {
  const { verb, object } = toHeadline(tool)
  const end = outcome.join(' · ')
  const mark = MARKS[tool.state]
  const room = columns - 2 - (end === '' || columns < MIN_COLUMNS ? 0 : measureWidth(end) + 2)
  const words = truncateText(`${verb}${object === '' ? '' : ` ${object}`}`, room)
  const shownVerb = words.slice(0, verb.length)
  const line = `${paint(mark.text, color, mark.style)} ${paint(shownVerb, color, 'bold')}${words.slice(verb.length)}`
  return truncateText(end === '' ? line : `${line}  ${paint(end, color, 'dim')}`, columns)
}

/** Lines below another, where there is room to set them in. */
export function indent(lines: readonly string[], columns: number): string[] {
  if (columns <= INDENT.length) return lines.map((line) => truncateText(line, columns))
  return lines.map((line) => (line === '' ? '' : INDENT + line))
}

/** Narrower lines say only what was done. */
const MIN_COLUMNS = 24

const MARKS: Record<ToolRun['state'], { text: string; style: TextStyle }> = {
  running: { text: '○', style: 'accent' },
  done: { text: '✓', style: 'success' },
  failed: { text: '✗', style: 'error' },
  denied: { text: '⊘', style: 'warning' },
}

function renderReason(tool: ToolRun, view: RenderContext): string[] {
  if (tool.state === 'denied') return renderDenial(tool, view)
  if (tool.state !== 'failed' || view.details) return []
  const isCommand = tool.name === 'bash' && tool.server === ''
  return excerpt(isCommand ? withoutExit(tool.output) : tool.output, isCommand ? 'end' : 'start', view)
}

function renderDenial({ denial }: ToolRun, { columns, color }: RenderContext): string[] {
  if (!denial) return []
  const more = denial.rules.length - SHOWN_RULES
  const shown = denial.rules.slice(0, SHOWN_RULES).map(cleanLine)
  const rules = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return [
    ...wrapLines(cleanText(denial.reason), columns),
    ...(rules === ''
      ? []
      : wrapLines(`${rules} would allow it`, columns).map((line) => paint(line, color, 'dim'))),
  ].slice(0, REASON_LINES * 2)
}

/** The card has shown them all. */
const SHOWN_RULES = 2

/** The line of the call says how it ended. */
function withoutExit(output: string): string {
  return output.replace(/\n?\[(?:exit code \d+|ended by \w+)\]$/, '')
}

/** Longest text that is looked at for an excerpt. */
const MAX_CHARS = 4_000

/** Some lines of a text: what went wrong stands at the end of what a command says, and at the start of what a tool says. */
function excerpt(text: string, from: 'start' | 'end', { columns, color }: RenderContext): string[] {
  const near = from === 'start' ? text.slice(0, MAX_CHARS) : text.slice(-MAX_CHARS)
  const lines = cleanText(near).trim().split('\n')
  const isAll = lines.length <= REASON_LINES && near.length === text.length
  const shown = from === 'start' ? lines.slice(0, REASON_LINES) : lines.slice(-REASON_LINES)
  const out = shown.map((line) => paint(truncateText(line, columns), color, 'error'))
  if (isAll) return out
  const more = paint('…', color, 'dim')
  return from === 'start' ? [...out, more] : [more, ...out]
}

/** What a running call last said, its newest lines. */
export function renderProgress(
  { progress }: Pick<ToolRun, 'progress'>,
  most: number,
  { columns, color }: RenderContext,
): string[] {
  if (progress === '') return []
  const lines = cleanText(progress.slice(-MAX_CHARS)).trimEnd().split('\n').slice(-most)
  return lines.map((line) => paint(truncateText(line, columns), color, 'dim'))
}
