import { formatSpan, formatUsd } from '../../core/base/format.ts'
import { labelPastes } from '../text/fold-pastes.ts'
import type { Block, Tone, ToolRun } from './blocks.ts'
import { cleanLine, cleanText } from './clean.ts'
import { renderMarkdown, renderPart } from './markdown/render.ts'
import { readPlan, renderPlan } from './plan.ts'
import { alignRows } from './rows.ts'
import { paint, type TextStyle } from './style.ts'
import { measureWidth, padText, truncateText, wrapLines } from './text.ts'
import { renderFileDiff } from './tool/file-diff.ts'
import { renderLookUps } from './tool/look-ups.ts'
import { renderTool } from './tool/render.ts'
import type { RenderContext } from './view.ts'

/**
 * Renders a finished block as lines for the scrollback, preceded by an empty line unless it continues the
 * block before. Untrusted text is sanitized.
 */
export function renderBlock(block: Block, view: RenderContext): string[] {
  const lines = renderBare(block, view)
  return lines.length === 0 || isAttached(block, view) ? [...lines] : ['', ...lines]
}

/** Whether a block directly follows the one before, without a gap. */
function isAttached(block: Block, { details }: RenderContext): boolean {
  if (block.kind === 'answer') return block.continues
  if (block.kind === 'tool' || block.kind === 'look-ups') return block.follows && !details
  return block.kind === 'welcome'
}

function renderBare(block: Block, view: RenderContext): readonly string[] {
  switch (block.kind) {
    case 'welcome':
      return renderWelcome(block, view)
    case 'user':
      return renderUser(block, view)
    case 'answer':
      return block.continues ? renderPart(block.text, true, view) : renderMarkdown(block.text, view)
    case 'thinking':
      return renderThinking(block, view)
    case 'tool':
      return renderCall(block.tool, view)
    case 'look-ups':
      return renderLookUpBlock(block.tools, view)
    case 'notice':
      return renderNotice(block, view)
    case 'output':
      return renderOutput(block, view)
    case 'answered':
      return renderAnswered(block, view)
    case 'turn-end':
      return renderTurnEnd(block, view)
    case 'file-diff':
      return renderFileDiff(block.file, view)
    case 'rule':
      return [renderRule(withTranscriptKey(block, view), view)]
  }
}

/** Renders reads and searches; with details, each by itself. */
function renderLookUpBlock(tools: readonly ToolRun[], view: RenderContext): string[] {
  if (!view.details) return renderLookUps(tools, view)
  return tools.flatMap((tool, at) => (at === 0 ? renderTool(tool, view) : ['', ...renderTool(tool, view)]))
}

/** Renders a finished call; a presented plan is shown as text. */
function renderCall(tool: ToolRun, view: RenderContext): string[] {
  const plan = tool.state === 'running' ? undefined : readPlan(tool)
  return plan === undefined ? renderTool(tool, view) : renderPlan(plan, tool, view)
}

type BlockOfKind<K extends Block['kind']> = Extract<Block, { kind: K }>

/** Renders the welcome: one line, without the version where there is no room, and a hint of at most two. */
function renderWelcome(
  { agent, model, cwd, version, hint }: BlockOfKind<'welcome'>,
  { columns, color }: RenderContext,
): string[] {
  const name = paint('crabtalk', color, 'heading')
  const where = [agent, model, cwd]
    .map(cleanLine)
    .filter(Boolean)
    .join(paint(' · ', color, 'dim'))
  const long = `${name} ${paint(`${cleanLine(version)} · `, color, 'dim')}${where}` // one run: Ink joins neighbors
  const line = measureWidth(long) <= columns ? long : `${name}${paint(' · ', color, 'dim')}${where}`
  const hints = wrapLines(cleanText(hint), columns).slice(0, 2)
  return [
    truncateText(line, columns),
    ...(hint === '' ? [] : hints.map((words) => paint(words, color, 'dim'))),
  ]
}

/** Renders a message of the user, with a mark before each line that makes it easy to find in the scrollback. */
function renderUser(
  { text, how, files, pasted = [] }: BlockOfKind<'user'>,
  { columns, color, details }: RenderContext,
): readonly string[] {
  const mark = paint('▌', color, 'accent')
  const sentText = details ? text : labelPastes(text, pasted)
  const lines = wrapLines(cleanText(sentText).trimEnd(), columns - 2)
  const shown = details || lines.length <= MAX_OWN_LINES ? lines : foldLines(lines)
  const notes = [
    ...(how === 'steered' ? ['while it worked'] : []),
    ...files.map((name) => `+ ${cleanLine(name)}`),
  ]
  const all = [...shown, ...notes.map((note) => paint(truncateText(note, columns - 2), color, 'dim'))]
  return tintRows(
    all.map((line) => truncateText(`${mark} ${line}`.trimEnd(), columns)),
    { columns, color },
  )
}

/** Tints the background behind rows, up to the same column, where the palette has a tint. */
function tintRows(
  rows: readonly string[],
  { columns, color }: Pick<RenderContext, 'columns' | 'color'>,
): readonly string[] {
  if (paint('x', color, 'user-background') === 'x') return rows
  const width = Math.min(columns, Math.max(...rows.map(measureWidth)) + 1)
  return rows.map((row) => paint(padText(row, width), color, 'user-background'))
}

/** Folds a long message, which is usually pasted text; the transcript shows all of it. */
function foldLines(lines: readonly string[]): string[] {
  const left = lines.length - OWN_HEAD - OWN_TAIL
  return [...lines.slice(0, OWN_HEAD), `… ${left} more lines`, ...lines.slice(-OWN_TAIL)]
}

const MAX_OWN_LINES = 40
const OWN_HEAD = 12
const OWN_TAIL = 4

/** Renders thinking as one line, or completely with details. */
function renderThinking(
  { text, isFirst }: BlockOfKind<'thinking'>,
  { columns, color, details }: RenderContext,
): string[] {
  const clean = cleanText(text).trim()
  if (clean === '' || (!details && !isFirst)) return []
  const dim = (line: string) => paint(line, color, 'dim', 'italic')
  if (details) return wrapLines(clean, columns).map(dim)
  const first = clean.split('\n', 1)[0]!.replaceAll('**', '')
  return [dim(truncateText(`Thought: ${first}`, columns))]
}

const TONES: Record<Tone, { mark: string; style: TextStyle }> = {
  info: { mark: '•', style: 'dim' },
  success: { mark: '✓', style: 'success' },
  warning: { mark: '!', style: 'warning' },
  error: { mark: '✗', style: 'error' },
}

/** The maximum lines of a notice without details: some servers answer with a whole page. */
const NOTICE_LINES = 12

function renderNotice(
  { tone, text, hint = '' }: BlockOfKind<'notice'>,
  { columns, color, details }: RenderContext,
): string[] {
  const { mark, style } = TONES[tone]
  const inner = Math.max(1, columns - 2)
  const all = wrapLines(cleanText(toChatCommands(text)).trim(), inner)
  const shown = details || all.length <= NOTICE_LINES ? all : [...all.slice(0, NOTICE_LINES - 1), '…']
  const lines = shown.map((line) => paint(line, color, style))
  const hints =
    hint === ''
      ? []
      : wrapLines(cleanText(toChatCommands(hint)).trim(), inner).map((line) => paint(line, color, 'dim'))
  return [...lines, ...hints].map((line, i) =>
    truncateText(i === 0 ? `${paint(mark, color, style)} ${line}` : `  ${line}`, columns),
  )
}

/** Replaces a command line that the chat has a command for: a notice comes from code that serves all clients. */
function toChatCommands(text: string): string {
  return text.replaceAll(/`?crabtalk connect\b`?/g, '/connect')
}

function renderOutput(
  { title, text = '', rows = [] }: BlockOfKind<'output'>,
  { columns, color }: RenderContext,
): string[] {
  const body = text === '' ? [] : wrapLines(cleanText(text).trimEnd(), columns)
  const table = alignRows(
    rows.map((row) => row.map(cleanLine)),
    columns,
  )
  const heading =
    title === '' ? [] : wrapLines(cleanLine(title), columns).map((line) => paint(line, color, 'heading'))
  return [...heading, ...body, ...table]
}

function renderAnswered(
  { question, answer }: BlockOfKind<'answered'>,
  { columns, color }: RenderContext,
): string[] {
  const inner = Math.max(1, columns - 2)
  const questionLines = wrapLines(cleanText(question).trim(), inner).map(
    (line, i) => `${i === 0 ? '?' : ' '} ${line}`,
  )
  const answerLines = wrapLines(cleanText(answer).trim(), inner).map(
    (line, i) => `${i === 0 ? '→' : ' '} ${line}`,
  )
  return [...questionLines.map((line) => paint(line, color, 'dim')), ...answerLines].map((line) =>
    truncateText(line, columns),
  )
}

/** Renders the duration and the cost of a turn. */
function renderTurnEnd({ ms, usd }: BlockOfKind<'turn-end'>, { columns, color }: RenderContext): string[] {
  const parts = [
    ...(ms === undefined ? [] : [formatSpan(ms)]),
    ...(usd === undefined ? [] : [formatUsd(usd)]),
  ]
  return parts.length === 0 ? [] : [paint(truncateText(parts.join(' · '), columns), color, 'dim')]
}

function withTranscriptKey({ text, isCut }: BlockOfKind<'rule'>, { isPlain }: RenderContext): string {
  return isCut && !isPlain ? `${text} · Ctrl+O` : text
}

/** Renders a horizontal rule with a text in it. Where the text does not fit, its last parts are left out. */
function renderRule(text: string, { columns, color }: RenderContext): string {
  const room = Math.max(0, columns - 6)
  const parts = cleanLine(text).split(' · ')
  while (parts.length > 1 && measureWidth(parts.join(' · ')) > room) parts.pop()
  const label = truncateText(parts.join(' · '), room)
  const start = label === '' ? '' : `── ${label} `
  const rest = Math.max(2, Math.min(columns, RULE_COLUMNS) - measureWidth(start))
  return paint(truncateText(start + '─'.repeat(rest), columns), color, 'dim')
}

const RULE_COLUMNS = 60
