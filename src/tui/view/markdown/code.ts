import type { Tokens } from 'marked'
import { paint } from '../style.ts'
import { cutText, measureWidth, truncateText } from '../text.ts'
import { closesFence, matchFence, measureIndent } from './line-kinds.ts'
import type { MarkdownView } from './types.ts'

/**
 * Renders code below a rule with its language, without indentation, so that it can be copied.
 *
 * A line that is too wide is left to the terminal to wrap, or cut into rows where it must not be.
 */
export function renderCode(
  { lang = '', text }: Pick<Tokens.Code, 'lang' | 'text'>,
  view: MarkdownView,
  continues: boolean,
): string[] {
  const language = lang.trim().split(/[\s{,:]/)[0] ?? ''
  const label = continues || language === '' ? [] : [renderLanguage(language, view)]
  if (text === '') return label
  const lines = (view.color ? view.highlight?.(text, language) : undefined) ?? text.split('\n')
  if (view.softWrap) return [...label, ...lines]
  return [...label, ...lines.flatMap((line) => cutCode(line, view.columns))]
}

/** Renders the rule above code, so that the language does not look like a word of the text. */
function renderLanguage(language: string, { columns, color }: MarkdownView): string {
  const start = `── ${language} `
  const rule = start + '─'.repeat(Math.max(2, Math.min(columns, RULE_COLUMNS) - measureWidth(start)))
  return paint(truncateText(rule, columns), color, 'dim')
}

const RULE_COLUMNS = 40

/** Reads a text that is a fenced code block, whether closed or not; undefined for other text. */
export function readFence(text: string): Pick<Tokens.Code, 'lang' | 'text'> | undefined {
  const [opening = '', ...lines] = text.replace(/\n$/, '').split('\n')
  const fence = matchFence(opening)
  if (fence === undefined) return undefined
  const indent = measureIndent(opening)
  if (closesFence(lines.at(-1) ?? '', fence)) lines.pop()
  const lang = opening.trim().slice(fence.length).trim()
  return { lang, text: lines.map((line) => line.slice(Math.min(indent, measureIndent(line)))).join('\n') }
}

/** Cuts a line of code into rows, without a mark, which would be copied with it. */
function cutCode(line: string, columns: number): string[] {
  return measureWidth(line) <= columns ? [line] : cutText(line, columns, columns)
}
