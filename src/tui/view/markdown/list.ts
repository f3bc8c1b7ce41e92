import type { Token, Tokens } from 'marked'
import { paint } from '../style.ts'
import { indentLines } from './lines.ts'
import type { MarkdownView, RenderTokens } from './types.ts'

/** Renders a list without gaps between its items, even if the source has blank lines there. */
export function renderList(list: Tokens.List, view: MarkdownView, render: RenderTokens): string[] {
  const start = typeof list.start === 'number' ? list.start : 1
  const formatMark = (i: number) => (list.ordered ? `${start + i}.` : '•')
  return list.items.flatMap((item, i) => renderItem(item, formatMark(i), view, render))
}

function renderItem(item: Tokens.ListItem, mark: string, view: MarkdownView, render: RenderTokens): string[] {
  const box = item.task ? `[${item.checked ? 'x' : ' '}] ` : ''
  const margin = {
    first: `${paint(mark, view.color, 'accent')} ${box}`,
    rest: ' '.repeat(mark.length + 1),
    width: mark.length + 1 + box.length,
  }
  const lines = indentLines(view.columns, margin, (columns) =>
    renderContent(item.tokens, (token) => render([token], { ...view, columns })),
  )
  return lines.length > 0 ? lines : [margin.first.trimEnd()]
}

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
