import { pluralize } from '../../../core/base/format.ts'
import { cleanLine } from '../clean.ts'
import { paint, type TextStyle } from '../style.ts'
import { cutText, measureWidth, padText, truncateText } from '../text.ts'
import type { RenderContext } from '../view.ts'
import { findChangedWords, paintRanges, type TextRange } from './changed-words.ts'
import type { DiffLine } from './diff-lines.ts'
import { highlightDiff } from './highlight-diff.ts'

export interface DiffOptions {
  /** The maximum number of lines; the last row then says how many are left out. */
  most?: number
  /** The changed file, whose name decides the language. */
  path?: string
  /** Whether the lines are shown exactly as they are, because the caller has escaped them. */
  isEscaped?: boolean
}

/**
 * Renders a diff with line numbers, signs and changed words; long lines are wrapped. Where the terminal has
 * enough colors, changed lines have a tinted background, and code its own colors.
 */
export function renderDiff(
  lines: readonly DiffLine[],
  { most = Number.POSITIVE_INFINITY, path = '', isEscaped = false }: DiffOptions,
  view: Pick<RenderContext, 'columns' | 'color' | 'highlight' | 'isPlain'>,
): string[] {
  const shown = lines.length <= most + 1 ? lines : lines.slice(0, most)
  const texts = shown.map(({ text }) => (isEscaped ? text : cleanLine(text.slice(0, MAX_CHARS))))
  const { color, columns } = view
  const isTinted = hasTint(color)
  const layout: DiffLayout = {
    ...{ color, columns, isTinted, digits: countDigits(shown) },
    painted: (isTinted && highlightDiff(shown, texts, { path, highlight: view.highlight })) || texts,
    changed: color ? findChangedWords(shown, texts) : [],
  }
  const width = Math.min(
    columns,
    Math.max(0, ...texts.map((text) => measureWidth(text))) + countGutter(layout),
  )
  const rows = shown.flatMap((line, at) => renderLine(line, at, { ...layout, width }))
  const left = lines.length - shown.length
  return left === 0
    ? rows
    : [...rows, dim(`… ${pluralize(left, 'more line')}${view.isPlain ? '' : ' (Ctrl+O)'}`, layout)]
}

/** Counts added and removed lines, such as `+3 −1`; a count of 0 is left out. */
export function countChanges(lines: readonly DiffLine[]): string {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  const [added, removed] = [count('added'), count('removed')]
  return [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean).join(' ')
}

/** Returns a text that changes with the colors in which diffs are drawn; for the keys of caches. */
export function describeDiffColors(color: boolean): string {
  return color ? paint('x', true, 'diff-added-background', 'added') : ''
}

/** The maximum characters of a line that are processed. */
const MAX_CHARS = 4_000

interface DiffLayout {
  columns: number
  color: boolean
  isTinted: boolean
  /** The digits of the largest line number; 0 when no number is known. */
  digits: number
  /** The texts in the colors of their code. */
  painted: readonly string[]
  /** The changed words of each line. */
  changed: readonly (readonly TextRange[])[]
}

function hasTint(color: boolean): boolean {
  return paint('x', color, 'diff-added-background') !== 'x'
}

function countDigits(lines: readonly DiffLine[]): number {
  const last = lines.reduce((most, { number }) => Math.max(most, number), 0)
  return last === 0 ? 0 : String(last).length
}

/** Counts the columns before the text: the number, the sign, and blanks. */
function countGutter({ digits }: DiffLayout): number {
  return digits === 0 ? 2 : digits + 3
}

function renderLine(
  { kind, number, text }: DiffLine,
  at: number,
  layout: DiffLayout & { width: number },
): string[] {
  if (kind === 'gap') return [dim(`⋮ ${cleanLine(text)}`.trimEnd(), layout)]
  const { digits, color, columns, isTinted, width } = layout
  const label = digits === 0 ? '' : `${(number > 0 ? String(number) : '').padStart(digits)} `
  const gutter = `${label}${SIGNS[kind]} `
  const body = paintRanges(layout.painted[at]!, layout.changed[at] ?? [], (word) =>
    kind === 'same' ? word : paint(word, color, WORD_STYLES[kind]),
  )
  const indent = countGutter(layout)
  if (columns <= indent + MIN_TEXT) return [paint(truncateText(gutter + body, columns), color, STYLES[kind])]
  const rows = cutText(body, columns - indent, columns - indent)
  return rows.map((row, index) => {
    const start = index === 0 ? gutter : ' '.repeat(indent)
    if (!isTinted) return paint((start + row).trimEnd(), color, STYLES[kind])
    const line = `${paint(start, color, STYLES[kind])}${row}`
    return kind === 'same' ? line.trimEnd() : paint(padText(line, width), color, TINTS[kind])
  })
}

/** The minimum columns for the text; with fewer, lines are truncated. */
const MIN_TEXT = 4

function dim(text: string, { columns, color }: Pick<DiffLayout, 'columns' | 'color'>): string {
  return paint(truncateText(text, columns), color, 'dim')
}

const SIGNS = { added: '+', removed: '-', same: ' ' } as const
const STYLES = { added: 'added', removed: 'removed', same: 'dim' } as const satisfies Record<
  string,
  TextStyle
>
const TINTS = { added: 'diff-added-background', removed: 'diff-removed-background' } as const
const WORD_STYLES = { added: 'diff-added-word', removed: 'diff-removed-word' } as const
