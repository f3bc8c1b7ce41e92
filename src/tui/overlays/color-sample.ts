import { paint } from '../view/style.ts'
import { padText, truncateText } from '../view/text.ts'
import type { Face } from '../view/view.ts'

/** Renders a few lines in the colors of the theme: a message, tool calls, code and a diff. */
export function renderColorSample({ columns, color }: Face): string[] {
  const width = Math.max(1, Math.min(60, columns - 2))
  const tint = (text: string, ...styles: Parameters<typeof paint>[2][]) =>
    paint(padText(truncateText(text, width), width), color, ...styles)
  const code = [
    paint('const', color, 'keyword'),
    paint('limit', color, 'function'),
    '=',
    paint('42', color, 'number'),
    paint('// the answer', color, 'comment'),
  ].join(' ')
  const added = `4 + const name = ${paint('"crab"', color, 'diff-added-word')}`
  return [
    '',
    `  ${tint('▌ fix the failing test', 'user-background')}`,
    `  ${paint('✓', color, 'success')} ${paint('Read', color, 'bold')} src/a.ts ${paint('12 lines', color, 'dim')}  ${paint('✗', color, 'error')} ${paint('Run', color, 'bold')} npm test ${paint('exit 1', color, 'warning')}`,
    `  ${code}`,
    `  ${tint('4 - const name = "crub"', 'diff-removed-background', 'removed')}`,
    `  ${tint(added, 'diff-added-background', 'added')}`,
  ].map((line) => truncateText(line, columns))
}
