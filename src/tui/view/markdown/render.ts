import type { Token, Tokens } from 'marked'
import { cleanText } from '../clean.ts'
import { type Split, splitClosed } from '../split.ts'
import { paint } from '../style.ts'
import { wrapLines } from '../text.ts'
import { isTame } from './bounds.ts'
import { readFence, renderCode } from './code.ts'
import { renderInline } from './inline.ts'
import { indentLines } from './lines.ts'
import { renderList } from './list.ts'
import { renderTable } from './table.ts'
import type { MarkdownView } from './types.ts'

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

/** Renders a heading. With colours, level 1 is underlined; without them, the `#` marks are shown. */
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
    renderTokens(tokens, { ...view, columns }).map((line) => paint(line, view.color, 'italic')),
  )
}
