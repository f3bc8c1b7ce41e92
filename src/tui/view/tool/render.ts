import { pluralize } from '../../../core/base/format.ts'
import { isUnanswered } from '../../../core/base/not-run.ts'
import { readTodoItems, TODO, type TodoStatus } from '../../../core/base/todo.ts'
import { DeniedBy } from '../../../core/protocol/crabtalk.generated.ts'
import type { CallDenial, ToolRun } from '../blocks.ts'
import { cleanLine, cleanText } from '../clean.ts'
import { paint, type TextStyle } from '../style.ts'
import { truncateText, wrapLines } from '../text.ts'
import type { RenderContext } from '../view.ts'
import { computeChange } from './change.ts'
import { renderDiff } from './diff.ts'
import { renderExcerpt } from './excerpt.ts'
import { textOrEmpty, toArguments, toHeadline } from './headline.ts'
import { renderCallLine } from './line.ts'
import { describeOutcome } from './outcome.ts'

/** The maximum lines of a diff, without and with details. */
const DIFF_LINES = 20
const DIFF_LINES_IN_DETAIL = 200
/** The indentation of lines below the line of a call. */
const INDENT = '  '

/** Renders a finished call: its line, and below it the change or the reason of the failure. */
export function renderTool(tool: ToolRun, view: RenderContext): string[] {
  const change = computeChange(tool)
  const inner = { ...view, columns: Math.max(1, view.columns - INDENT.length) }
  const most = view.isWhole ? Number.POSITIVE_INFINITY : view.details ? DIFF_LINES_IN_DETAIL : DIFF_LINES
  const diff = tool.state === 'done' ? renderDiff(change, { most, path: findPath(tool) }, inner) : []
  const below = [
    ...diff,
    ...renderTodo(tool, inner),
    ...renderReason(tool, inner),
    ...(view.details ? renderDetails(tool, inner) : []),
  ]
  return [renderToolLine(tool, describeOutcome(tool, change), view), ...indent(below, view.columns)]
}

/** Renders the list of a call of `todo`: a sign for each status, and the item that is worked on in bold. */
function renderTodo(tool: ToolRun, { columns, color }: RenderContext): string[] {
  if (tool.name !== TODO || tool.server !== '' || tool.state !== 'done') return []
  const items = readTodoItems(toArguments(tool)) ?? []
  return items.map(({ text, status }) => {
    const { mark, style } = TODO_MARKS[status]
    const line = truncateText(`${mark} ${cleanLine(text)}`, columns)
    return style ? paint(line, color, style) : line
  })
}

const TODO_MARKS: Readonly<Record<TodoStatus, { mark: string; style?: TextStyle }>> = {
  done: { mark: '✓', style: 'dim' },
  in_progress: { mark: '▸', style: 'bold' },
  pending: { mark: '○' },
}

function findPath(tool: ToolRun): string {
  return textOrEmpty(toArguments(tool)['path'])
}

/** Renders a call on one line: a mark for its state, the action, and the result. */
export function renderToolLine(
  tool: ToolRun,
  outcome: readonly string[],
  view: Pick<RenderContext, 'columns' | 'color'>,
): string {
  return renderCallLine(tool.state, { ...toHeadline(tool), end: outcome }, view)
}

/** Indents lines when there is enough space. */
export function indent(lines: readonly string[], columns: number): string[] {
  if (columns <= INDENT.length) return lines.map((line) => truncateText(line, columns))
  return lines.map((line) => (line === '' ? '' : INDENT + line))
}

function renderReason(tool: ToolRun, view: RenderContext): string[] {
  if (tool.state === 'denied') return renderDenial(tool, view)
  if (tool.state === 'skipped')
    return isUnanswered(tool.name, tool.output) ? [] : [paint('interrupted', view.color, 'dim')]
  return view.details ? [] : renderOutput(tool, view)
}

/** Renders the end of a command's output, the first error of a failure, or the start of a server's result. */
function renderOutput(tool: ToolRun, view: RenderContext): string[] {
  const isCommand = tool.name === 'bash' && tool.server === ''
  const output = isCommand ? withoutExit(tool.output) : tool.output
  if (tool.state === 'failed') {
    const part = isCommand ? 'error' : 'start'
    return renderExcerpt(output, { part, most: FAILURE_LINES, style: 'error' }, view)
  }
  if (tool.state !== 'done' || output === NO_OUTPUT || (!isCommand && tool.server === '')) return []
  return renderExcerpt(output, { part: isCommand ? 'end' : 'start', most: OUTPUT_LINES, style: 'dim' }, view)
}

/** The maximum lines of a finished call's output. */
const OUTPUT_LINES = 3
/** The maximum lines of a failure. */
const FAILURE_LINES = 4

function renderDenial({ denial }: ToolRun, { columns, color }: RenderContext): string[] {
  if (!denial) return []
  const reason = denial.by === DeniedBy.PERSON ? denial.reason.replace(SAID_NO, '') : denial.reason
  const helpful = listHelpfulRules(denial)
  const more = helpful.length - SHOWN_RULES
  const shown = helpful.slice(0, SHOWN_RULES).map(cleanLine)
  const rules = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return [
    ...(reason === '' ? [] : wrapLines(cleanText(reason), columns)),
    ...(rules === ''
      ? []
      : wrapLines(`${helpful.length > 1 ? 'the rules' : 'the rule'} ${rules} would allow it`, columns).map(
          (line) => paint(line, color, 'dim'),
        )),
  ].slice(0, DENIAL_LINES)
}

/** Returns the rules to suggest: none after the user's own no, and never one that allows every command. */
function listHelpfulRules({ by, rules }: CallDenial): readonly string[] {
  return by === DeniedBy.PERSON || rules.includes('bash') ? [] : rules
}

/** The maximum lines of a denial. */
const DENIAL_LINES = 8

/** The part of a reason that the line of the call already shows. */
const SAID_NO = /^the user said no(: |$)/

/** The maximum number of rules shown; the card has shown all of them. */
const SHOWN_RULES = 2

/** The output of a command that printed nothing, which the line of the call already says. */
const NO_OUTPUT = '[no output]'

/** Removes the exit status, which the line of the call already shows. */
function withoutExit(output: string): string {
  return output.replace(/\n?\[(?:exit code \d+|(?:killed|ended) by \w+)\]$/, '')
}

/** The maximum characters of progress that are processed. */
const MAX_PROGRESS_CHARS = 4_000

/** Renders the newest progress lines of a running call. */
export function renderProgress(
  { progress }: Pick<ToolRun, 'progress'>,
  most: number,
  { columns, color }: RenderContext,
): string[] {
  if (progress === '') return []
  const lines = cleanText(progress.slice(-MAX_PROGRESS_CHARS)).trimEnd().split('\n').slice(-most)
  return lines.map((line) => paint(truncateText(line, columns), color, 'dim'))
}

/** The maximum lines of arguments, and of output, that are shown. */
const MAX_LINES = 100
/** The maximum characters that are processed. */
const MAX_DETAIL_CHARS = 100_000

/** Renders the arguments and the output of a call. */
function renderDetails(tool: ToolRun, view: RenderContext): string[] {
  return [...section('arguments', prettyJson(tool.arguments), view), ...section('output', tool.output, view)]
}

function section(title: string, text: string, { columns, color, isWhole = false }: RenderContext): string[] {
  if (text === '') return []
  const lines = wrapLines(cleanText(text.slice(0, MAX_DETAIL_CHARS)).trimEnd(), columns)
  const left = isWhole ? 0 : lines.length - MAX_LINES
  const isCut = text.length > MAX_DETAIL_CHARS
  const more = left > 0 || isCut ? [`… ${left > 0 ? pluralize(left, 'more line') : 'more'}`] : []
  return [
    paint(truncateText(title, columns), color, 'dim', 'underline'),
    ...(left > 0 ? lines.slice(0, MAX_LINES) : lines),
    ...more.map((line) => paint(truncateText(line, columns), color, 'dim')),
  ]
}

function prettyJson(json: string): string {
  if (json.length > MAX_DETAIL_CHARS) return json
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json // invalid JSON is shown as the model wrote it
  }
}
