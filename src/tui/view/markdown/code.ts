import type { Tokens } from 'marked'
import { paint } from '../style.ts'
import { cutText, measureWidth, truncateText } from '../text.ts'
import { closesFence, matchFence, measureIndent } from './line-kinds.ts'
import type { MarkdownView } from './types.ts'

/**
 * Code from the first column on, so that it can be copied, under the name of its language.
 *
 * A line that is too wide goes on behind a mark; a blank line stays one.
 */
export function renderCode(
  { lang = '', text }: Pick<Tokens.Code, 'lang' | 'text'>,
  view: MarkdownView,
  continues: boolean,
): string[] {
  const language = lang.trim().split(/[\s{,:]/)[0] ?? ''
  const label =
    continues || language === '' ? [] : [paint(truncateText(language, view.columns), view.color, 'dim')]
  if (text === '') return label
  const lines = (view.color ? view.highlight?.(text, language) : undefined) ?? text.split('\n')
  return [...label, ...lines.flatMap((line) => wrapCode(line, view))]
}

/** A fence that stands for itself, open or closed, from its first line on; undefined for other text. */
export function readFence(text: string): Pick<Tokens.Code, 'lang' | 'text'> | undefined {
  const [opening = '', ...lines] = text.replace(/\n$/, '').split('\n')
  const fence = matchFence(opening)
  if (fence === undefined) return undefined
  const indent = measureIndent(opening)
  if (closesFence(lines.at(-1) ?? '', fence)) lines.pop()
  const lang = opening.trim().slice(fence.length).trim()
  return { lang, text: lines.map((line) => line.slice(Math.min(indent, measureIndent(line)))).join('\n') }
}

/** A line of code, broken behind visible marks. */
function wrapCode(line: string, { columns, color }: Pick<MarkdownView, 'columns' | 'color'>): string[] {
  if (measureWidth(line) <= columns) return [line]
  if (columns <= GOES_ON.length) return cutText(line, columns, columns)
  const [first = '', ...others] = cutText(line, columns, columns - GOES_ON.length)
  return [first, ...others.map((rest) => paint(GOES_ON, color, 'dim') + rest)]
}

const GOES_ON = '↳ '
