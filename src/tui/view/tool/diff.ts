import { pluralize } from '../../../core/base/format.ts'
import { cleanLine } from '../clean.ts'
import { paint, type TextStyle } from '../style.ts'
import { truncateText } from '../text.ts'
import type { RenderContext } from '../view.ts'
import type { DiffLine } from './diff-lines.ts'

/** Renders a diff with line numbers and signs; after `most` lines it says how many are left out. */
export function renderDiff(
  lines: readonly DiffLine[],
  most: number,
  { columns, color }: Pick<RenderContext, 'columns' | 'color'>,
): string[] {
  const shown = lines.length <= most + 1 ? lines : lines.slice(0, most)
  const digits = String(Math.max(0, ...shown.map(({ number }) => number))).length
  const hasNumbers = shown.some(({ number }) => number > 0)
  const out = shown.map(({ kind, number, text }) => {
    if (kind === 'gap') return paint(truncateText(`⋮ ${cleanLine(text)}`.trimEnd(), columns), color, 'dim')
    const label = hasNumbers ? `${(number > 0 ? String(number) : '').padStart(digits)} ` : ''
    const line = truncateText(`${label}${SIGN[kind]} ${cleanDiffText(text)}`, columns)
    return paint(line.trimEnd(), color, STYLE[kind])
  })
  const left = lines.length - shown.length
  return left === 0
    ? out
    : [...out, paint(truncateText(`… ${pluralize(left, 'more line')}`, columns), color, 'dim')]
}

/** Counts added and removed lines, such as `+3 −1`; a count of 0 is left out. */
export function countChanges(lines: readonly DiffLine[]): string {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  const [added, removed] = [count('added'), count('removed')]
  return [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean).join(' ')
}

const SIGN = { added: '+', removed: '-', same: ' ' } as const
const STYLE = { added: 'added', removed: 'removed', same: 'dim' } as const satisfies Record<string, TextStyle>

/** The maximum characters of a line that are processed. */
const MAX_CHARS = 1_000

function cleanDiffText(text: string): string {
  return cleanLine(text.slice(0, MAX_CHARS))
}
