import { pluralize } from '../../../core/base/format.ts'
import type { ToolRun } from '../blocks.ts'
import { cleanLine } from '../clean.ts'
import type { RenderContext } from '../view.ts'
import { type Headline, toArguments, toHeadline } from './headline.ts'
import { renderCallLine } from './line.ts'
import { describeOutcome } from './outcome.ts'

/** Renders finished reads and searches: one line for each kind of call, in the order of their first calls. */
export function renderLookUps(tools: readonly ToolRun[], view: RenderContext): string[] {
  const kinds = Map.groupBy(tools, ({ name }) => name)
  return Array.from(kinds.values(), (calls) => renderKind(calls, view))
}

function renderKind(calls: readonly ToolRun[], view: RenderContext): string {
  const [first] = calls
  const objects = [...new Set(calls.map(toObject))]
  if (calls.length === 1) {
    return renderCallLine('done', { ...toHeadline(first!), end: describeOutcome(first!, []) }, view)
  }
  const { verb } = toHeadline(first!)
  if (objects.length === 1) {
    const object = cleanLine(objects[0]!)
    return renderCallLine('done', { verb, object, end: [`${calls.length} times`] }, view)
  }
  const headline: Headline = {
    verb: `${verb} ${pluralize(objects.length, NOUNS.get(first!.name) ?? 'call')}`,
    object: '',
  }
  return renderCallLine('done', { ...headline, list: objects.map(cleanLine).join(', ') }, view)
}

const NOUNS: ReadonlyMap<string, string> = new Map([
  ['read', 'file'],
  ['grep', 'pattern'],
  ['glob', 'pattern'],
])

/** Returns the file of a read, or the pattern of a search. */
function toObject(tool: ToolRun): string {
  const { path, pattern } = toArguments(tool)
  const text = tool.name === 'read' ? path : pattern
  return typeof text === 'string' ? text.slice(0, MAX_CHARS) : ''
}

/** The maximum characters of a name that are processed. */
const MAX_CHARS = 500
