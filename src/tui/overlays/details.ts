import { cleanLine } from '../view/clean.ts'
import { paint } from '../view/style.ts'
import { measureWidth, wrapAtMost } from '../view/text.ts'

interface Detailed {
  detail: string
}

/** The space for details, in columns and rows. */
interface DetailSpace {
  /** The columns of a detail in the row of its item. */
  beside: number
  /** The columns before a detail below the list, and those of its text. */
  indent: number
  width: number
  /** The most rows below the list. */
  rows: number
  color: boolean
}

/**
 * Renders the whole detail of the selected item where its row has no space for it. There are as many rows as any of
 * the items needs, so that the list keeps its height.
 */
export function renderDetails(
  items: readonly Detailed[],
  selected: Detailed | undefined,
  { beside, indent, width, rows: most, color }: DetailSpace,
): string[] {
  const wrap = ({ detail }: Detailed) =>
    measureWidth(cleanLine(detail)) <= beside ? [] : wrapAtMost(cleanLine(detail), width, MAX_ROWS)
  const height = Math.max(0, ...items.map((item) => wrap(item).length))
  if (!selected || height > most) return []
  const rows = wrap(selected).map((row) => `${' '.repeat(indent)}${paint(row, color, 'dim')}`)
  return [...rows, ...Array.from({ length: height - rows.length }, () => '')]
}

const MAX_ROWS = 2
