import type { ToolRun } from '../../state/types.ts'
import { cleanText } from '../clean.ts'
import { plural } from '../numbers.ts'
import { paint } from '../style.ts'
import { truncateText, wrapLines } from '../text.ts'
import type { RenderContext } from '../view.ts'

/** The maximum lines of arguments, and of output, that are shown. */
const MOST_LINES = 100
/** The maximum characters that are processed. */
const MAX_CHARS = 100_000

/** Renders the arguments and the output of a call. */
export function renderDetails(tool: ToolRun, view: RenderContext): string[] {
  return [...section('arguments', prettyJson(tool.arguments), view), ...section('output', tool.output, view)]
}

function section(title: string, text: string, { columns, color, isWhole = false }: RenderContext): string[] {
  if (text === '') return []
  const lines = wrapLines(cleanText(text.slice(0, MAX_CHARS)).trimEnd(), columns)
  const left = isWhole ? 0 : lines.length - MOST_LINES
  const isCut = text.length > MAX_CHARS
  const more = left > 0 || isCut ? [`… ${left > 0 ? plural(left, 'more line') : 'more'}`] : []
  return [
    paint(truncateText(title, columns), color, 'dim', 'underline'),
    ...(left > 0 ? lines.slice(0, MOST_LINES) : lines),
    ...more.map((line) => paint(truncateText(line, columns), color, 'dim')),
  ]
}

function prettyJson(json: string): string {
  if (json.length > MAX_CHARS) return json
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json // invalid JSON is shown as the model wrote it
  }
}
