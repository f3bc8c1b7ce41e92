import type { Token, Tokens } from 'marked'
import { cleanText } from '../clean.ts'
import { paint } from '../style.ts'
import { wrapLines } from '../text.ts'
import { readFence, renderCode } from './code.ts'
import { renderInline } from './inline.ts'
import { type Split, splitClosed } from './split.ts'
import { renderTable } from './table.ts'
import type { MarkdownView, RenderTokens } from './types.ts'

/**
 * Renders Markdown that is not cleaned yet and may have any size, with an empty line between blocks.
 *
 * The result equals that of rendering the text's closed parts one after another; a part that starts a block
 * can also be passed as a text of its own.
 */
export function renderMarkdown(text: string, view: MarkdownView): string[] {
  return joinParts(splitClosed({ text, carry: '' }, true).closed, view)
}

function joinParts(parts: Split['closed'], view: MarkdownView): string[] {
  const lines: string[] = []
  for (const { text, continues } of parts) {
    const part = renderPart(text, continues, view)
    if (part.length === 0) continue
    if (lines.length > 0 && !continues) lines.push('')
    for (const line of part) lines.push(line)
  }
  return lines
}

/**
 * Renders one part that `splitClosed` has closed, without a gap before it. `continues` leaves out what the
 * part before has already shown.
 */
export function renderPart(text: string, continues: boolean, view: MarkdownView): string[] {
  const clean = cleanText(text)
  if (clean.trim() === '') return []
  const fence = readFence(clean)
  if (fence) return renderCode(fence, view, continues)
  if (!view.parse || !isTame(clean)) return wrapLines(clean.replace(/\n+$/, ''), view.columns)
  return renderTokens(view.parse(clean), view, continues)
}

function renderTokens(tokens: readonly Token[], view: MarkdownView, continues = false): string[] {
  const lines: string[] = []
  for (const token of tokens) {
    const block = renderToken(token, view, continues && lines.length === 0)
    if (block.length === 0) continue
    if (lines.length > 0) lines.push('')
    for (const line of block) lines.push(line)
  }
  return lines
}

function renderToken(token: Token, view: MarkdownView, continues: boolean): string[] {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return []
    case 'heading':
      return renderHeading(token as Tokens.Heading, view)
    case 'code':
      return renderCode(token as Tokens.Code, view, continues)
    case 'list':
      return renderList(token as Tokens.List, view, renderTokens)
    case 'table':
      return renderTable(token as Tokens.Table, view, continues)
    case 'blockquote':
      return renderQuote(token as Tokens.Blockquote, view)
    case 'hr':
      return [paint('─'.repeat(Math.min(view.columns, HR_COLUMNS)), view.color, 'dim')]
    case 'def':
    case 'html':
      return wrapLines(token.raw.trimEnd(), view.columns)
    default:
      return renderParagraph(token, view)
  }
}

const HR_COLUMNS = 40

function renderParagraph(token: Token, view: MarkdownView): string[] {
  return wrapLines(
    renderInline('tokens' in token && token.tokens ? token.tokens : [token], view.color),
    view.columns,
  )
}

/** Renders a heading. With colors, level 1 is underlined; without them, the `#` marks are shown. */
function renderHeading({ depth, tokens }: Tokens.Heading, view: MarkdownView): string[] {
  const text = renderInline(tokens, view.color)
  if (!view.color) return wrapLines(`${'#'.repeat(depth)} ${text}`, view.columns)
  const lines = wrapLines(text, view.columns)
  return lines.map((line) =>
    depth === 1 ? paint(line, true, 'heading', 'underline') : paint(line, true, 'heading'),
  )
}

function renderQuote({ tokens }: Tokens.Blockquote, view: MarkdownView): string[] {
  const bar = paint('│', view.color, 'dim')
  return indentLines(view.columns, { first: `${bar} `, rest: `${bar} `, width: 2 }, (columns) =>
    // a row that the terminal wraps would have no bar
    renderTokens(tokens, { ...view, columns, softWrap: false }).map((line) =>
      paint(line, view.color, 'italic'),
    ),
  )
}

/**
 * The maximum nesting of quotes and lists in a line passed to the parser; its stack and time grow with the
 * depth.
 */
const MAX_DEPTH = 16

/** The maximum length of a text passed to the parser: some of its rules take quadratic time. */
const MAX_CHARS = 40_000

/** Whether the parser can handle a text in reasonable time and within its stack. */
function isTame(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  return !TOO_DEEP.test(text)
}

const TOO_DEEP = new RegExp(`^ *(?:(?:>|[-+*](?= )|\\d{1,9}[.)](?= )) *){${MAX_DEPTH}}`, 'm')

/** Renders a list without gaps between its items, even if the source has blank lines there. */
function renderList(list: Tokens.List, view: MarkdownView, render: RenderTokens): string[] {
  const start = typeof list.start === 'number' ? list.start : 1
  const formatMark = (i: number) => (list.ordered ? `${start + i}.` : '•')
  return list.items.flatMap((item, i) => renderItem(item, formatMark(i), view, render))
}

function renderItem(item: Tokens.ListItem, mark: string, view: MarkdownView, render: RenderTokens): string[] {
  const { text, style } = item.task
    ? BOXES[item.checked ? 'done' : 'open']
    : { text: mark, style: 'accent' as const }
  const width = text.length + 1
  const margin = { first: `${paint(text, view.color, style)} `, rest: ' '.repeat(width), width }
  const lines = indentLines(view.columns, margin, (columns) =>
    renderContent(item.tokens, (token) => render([token], { ...view, columns })),
  )
  return lines.length > 0 ? lines : [margin.first.trimEnd()]
}

/** The marks of the items of a task list, in place of their bullets. */
const BOXES = {
  done: { text: '[x]', style: 'success' },
  open: { text: '[ ]', style: 'dim' },
} as const

/** Renders the blocks of an item with gaps, except that a nested list directly follows its text. */
function renderContent(tokens: readonly Token[], render: (token: Token) => string[]): string[] {
  const lines: string[] = []
  for (const token of tokens) {
    const block = render(token)
    if (block.length > 0 && lines.length > 0 && token.type !== 'list') lines.push('')
    lines.push(...block)
  }
  return lines
}

/** The prefixes of the first line and of the others, each `width` columns wide. */
interface Margin {
  first: string
  rest: string
  width: number
}

/** The minimum columns for content; with fewer, nothing is indented. */
const MIN_COLUMNS = 8

/** Renders lines with a margin when there is enough space for one. */
function indentLines(
  columns: number,
  margin: Margin,
  render: (columns: number) => readonly string[],
): string[] {
  if (columns - margin.width < MIN_COLUMNS) return [...render(columns)]
  const lines = render(columns - margin.width)
  return lines.map((line, i) => {
    const start = i === 0 ? margin.first : margin.rest
    return line === '' ? start.trimEnd() : start + line
  })
}
