import type { ToolRun } from '../blocks.ts'
import { paint, type TextStyle } from '../style.ts'
import { measureWidth, truncateText } from '../text.ts'
import type { RenderContext } from '../view.ts'
import type { Headline } from './headline.ts'

/** The parts of the line of a call, or of several; all are clean. */
export interface CallLine extends Headline {
  /** The result, which is shown in full where there is room. */
  end?: readonly string[]
  /** The objects of several calls, shown as far as there is room. */
  list?: string
}

/** Renders one line: a mark for the state, the action, and the result. */
export function renderCallLine(
  state: ToolRun['state'],
  { verb, object, end: outcome = [], list = '' }: CallLine,
  { columns, color }: Pick<RenderContext, 'columns' | 'color'>,
): string {
  const end = outcome.join(' · ')
  const mark = MARKS[state]
  const room = columns - 2 - (end === '' || columns < MIN_COLUMNS ? 0 : measureWidth(end) + 2)
  const words = truncateText(`${verb}${object === '' ? '' : ` ${object}`}`, room)
  const shownVerb = words.slice(0, verb.length)
  const line = `${paint(mark.text, color, mark.style)} ${paint(shownVerb, color, 'bold')}${words.slice(verb.length)}`
  const rest = [end, list].filter((text) => text !== '').map((text) => `  ${paint(text, color, 'dim')}`)
  return truncateText(line + rest.join(''), columns)
}

/** Below this width the line shows only the action. */
const MIN_COLUMNS = 24

const MARKS: Record<ToolRun['state'], { text: string; style: TextStyle }> = {
  running: { text: '○', style: 'accent' },
  done: { text: '✓', style: 'success' },
  failed: { text: '✗', style: 'error' },
  denied: { text: '⊘', style: 'warning' },
  skipped: { text: '⊘', style: 'warning' },
}
