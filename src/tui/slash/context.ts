import { apportion } from '../../core/base/apportion.ts'
import { formatCount, pluralize } from '../../core/base/format.ts'
import { formatContextPart } from '../../core/protocol/context-words.ts'
import { ContextPartKind, type ContextView } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { modelToName } from '../state/model-choice.ts'
import { meter } from '../view/meter.ts'
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
  printRows(context, title(view), toRows(view))
  for (const advice of advise(view, context.ports)) printNotice(context, 'info', advice)
  if (view.window === undefined) printNotice(context, 'info', UNKNOWN_WINDOW, adviseWindow(view.model))
}

const UNKNOWN_WINDOW = 'The context window is unknown: nothing is compacted by itself'

/** Says how to set the context window of a model whose provider does not report it. */
function adviseWindow(model: string): string {
  return `add context = { ${JSON.stringify(model)} = 128000 } to its [[providers]] table in config.toml`
}

function title({ model, window, counted, total }: ContextView): string {
  const about = counted === undefined ? 'about ' : ''
  const size =
    window === undefined
      ? `${about}${formatCount(total)} tokens`
      : `${about}${formatCount(total)} of ${formatCount(window)} · ${percent(total, window)}`
  return [`Context of ${model}`, size].join(' · ')
}

/** Returns a row for each part and for the free rest. Counts are rounded so that they add up to the total, too. */
function toRows({ parts, window, total }: ContextView): string[][] {
  const whole = window ?? Math.max(total, 1)
  const unit = total < 1_000 ? 1 : 100
  const units = apportion(
    parts.map(({ tokens }) => tokens),
    Math.round(total / unit),
  )
  const rows = parts.map((part, at) => {
    const { name, note } = formatContextPart(part)
    const what = [name, note].filter((text) => text !== '').join(' · ')
    return [meter(part.tokens / whole, BAR_COLUMNS), formatUnits(units[at]!, unit), what]
  })
  if (window === undefined) return rows
  const free = Math.max(0, window - total)
  return [...rows, [meter(free / whole, BAR_COLUMNS), formatCount(free), 'free']]
}

/** Formats tokens with one digit after the point of a thousand, which `formatCount` leaves out of large ones. */
function formatUnits(units: number, unit: number): string {
  if (unit === 1) return String(units)
  return units === 0 ? '<0.1k' : `${units / 10}k`
}

const BAR_COLUMNS = 10

/** Says what would make room. */
function advise(
  { parts, compactable, largeResults, largeResultTokens }: ContextView,
  { abbreviate }: Pick<SlashContext['ports'], 'abbreviate'>,
): string[] {
  const unused = parts.filter((part) => part.kind === ContextPartKind.TOOLS && part.unused)
  const servers = unused
    .filter(({ tokens }) => tokens >= MIN_ADVICE)
    .map(
      ({ name, count, tokens }) =>
        `Server ${name}: ${pluralize(count, 'tool')}, ${formatCount(tokens)} tokens, not used in this conversation: /mcp can disable it`,
    )
  const results = `${pluralize(largeResults, 'tool result')} ${largeResults === 1 ? 'holds' : 'hold'} ${formatCount(largeResultTokens)} tokens`
  const files = parts.filter((part) => part.kind === ContextPartKind.INSTRUCTIONS)
  const instructions = files
    .filter(({ tokens }) => tokens >= MIN_FILE_ADVICE)
    .map(
      ({ name, tokens }) =>
        `${abbreviate(name)} takes ${formatCount(tokens)} tokens of every request: a skill is read only when it is needed`,
    )
  return [
    ...(compactable >= MIN_ADVICE ? [`/compact would free about ${formatCount(compactable)} tokens`] : []),
    ...(largeResults > 0 ? [`${results}: /compact summarizes them, /rewind goes back before them`] : []),
    ...instructions,
    ...servers,
  ]
}

/** The fewest tokens that are worth a line. */
const MIN_ADVICE = 500
/** The fewest tokens of an instruction file that are worth a line. */
const MIN_FILE_ADVICE = 2_000

function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`
}
