import { pluralize } from '../../core/base/format.ts'
import { formatContextPart } from '../../core/protocol/context-words.ts'
import {
  type ContextPart,
  ContextPartKind,
  type ContextView,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { modelToName } from '../state/model-choice.ts'
import { formatCount, meter } from '../view/numbers.ts'
import { printNotice, printRows } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/context`: breaks the next request down into its parts, and says what could go. */
export async function showContext(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session } = context.state()
  const model = modelToName(context.state())
  if (session === undefined)
    return printNotice(context, 'info', 'The context is empty: there are no messages yet')
  const { cwd } = context.ports
  const view = await request(context.dispatch, 'contextView', { session, model, cwd }, signal)
  printRows(context, title(view), [...view.parts.map((part) => toRow(part, view)), ...freeRow(view)])
  for (const advice of advise(view)) printNotice(context, 'info', advice)
  if (view.window === undefined) printNotice(context, 'info', UNKNOWN_WINDOW, adviseWindow(view.model))
}

const UNKNOWN_WINDOW = 'The context window is unknown: nothing is compacted by itself'

/** Says how to set the context window of a model whose provider does not report it. */
function adviseWindow(model: string): string {
  return `add context = { ${JSON.stringify(model)} = 128000 } to its [[providers]] table in config.toml`
}

function title({ model, window, counted, total }: ContextView): string {
  const used = counted ?? total
  const size =
    window === undefined
      ? `about ${formatCount(used)} tokens`
      : `${formatCount(used)} of ${formatCount(window)} · ${percent(used, window)}`
  return [`Context of ${model}`, size].join(' · ')
}

function toRow(part: ContextPart, { window, total }: ContextView): string[] {
  const share = part.tokens / (window ?? Math.max(total, 1))
  const { name, note } = formatContextPart(part)
  const what = [name, note].filter((text) => text !== '').join(' · ')
  return [meter(share, BAR_COLUMNS), formatCount(part.tokens), what]
}

function freeRow({ window, counted, total }: ContextView): string[][] {
  if (window === undefined) return []
  const free = Math.max(0, window - (counted ?? total))
  return [[meter(0, BAR_COLUMNS), formatCount(free), 'free']]
}

const BAR_COLUMNS = 10

/** Says what would make room. */
function advise({ parts, compactable }: ContextView): string[] {
  const unused = parts.filter((part) => part.kind === ContextPartKind.TOOLS && part.unused)
  const servers = unused
    .filter(({ tokens }) => tokens >= MIN_ADVICE)
    .map(
      ({ name, count, tokens }) =>
        `Server ${name}: ${pluralize(count, 'tool')}, ${formatCount(tokens)} tokens, not used in this conversation: /mcp can disable it`,
    )
  return [
    ...(compactable >= MIN_ADVICE ? [`/compact would free about ${formatCount(compactable)} tokens`] : []),
    ...servers,
  ]
}

/** The fewest tokens that are worth a line. */
const MIN_ADVICE = 500

function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`
}
