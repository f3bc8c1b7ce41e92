import { pluralize } from '../../core/base/format.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatState } from '../state/types.ts'
import { formatCount, formatUsd, meter } from '../view/numbers.ts'
import { printNotice, printRows } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/cost`: shows the usage of this chat, as far as it is known. */
export function showCost(_args: string, context: SlashContext): void {
  const { input, output, cacheRead, cacheWrite, usd, turns } = context.state().usage
  if (turns === 0) {
    printNotice(context, 'info', 'No turn has ended in this chat yet')
    return
  }
  printRows(context, `Cost of this chat · ${pluralize(turns, 'turn')}`, [
    ['cost', usd === undefined ? 'unknown: the price of a model is not known' : formatUsd(usd)],
    ['input', withShare(input, cacheRead)],
    ['output', formatCount(output)],
    ...(cacheWrite > 0 ? [['written to the cache', formatCount(cacheWrite)]] : []),
  ])
}

/** `/context`: shows how full the model's context window is. */
export async function showContext(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { last } = context.state().usage
  if (!last) return printNotice(context, 'info', 'The context usage is known after the first answer')
  const window = await fetchContextWindow(context, signal)
  const used = last.totalTokens || last.promptTokens + last.completionTokens
  const bar = window === undefined ? [] : [['', meter(used / window, BAR_COLUMNS)]]
  printRows(context, `Context of ${context.state().model || 'the model'}`, [
    ...bar,
    ['window', window === undefined ? 'unknown' : formatCount(window)],
    [
      'used',
      [
        `${formatCount(used)} ${used === 1 ? 'token' : 'tokens'}`,
        window === undefined ? undefined : percent(used, window),
      ]
        .filter(Boolean)
        .join(' · '),
    ],
    ['last request', withShare(last.promptTokens, last.cacheHitTokens ?? 0)],
    ['last answer', formatCount(last.completionTokens)],
    ['left', window === undefined ? 'unknown' : formatCount(Math.max(0, window - used))],
  ])
}

const BAR_COLUMNS = 30

/** Returns the context window of the last turn's model; before the first turn, from the list of models. */
async function fetchContextWindow(context: SlashContext, signal: AbortSignal): Promise<number | undefined> {
  const state = context.state()
  if (state.usage.context !== undefined) return state.usage.context
  const models =
    state.models.length > 0
      ? state.models
      : (await request(context.dispatch, 'listModels', {}, signal)).models
  return findContextWindow(state, models)
}

function findContextWindow({ model }: ChatState, models: ChatState['models']): number | undefined {
  return models.find(({ name }) => name === model)?.context
}

function withShare(input: number, cached: number): string {
  const share = percent(cached, input)
  return cached > 0 && share !== undefined
    ? `${formatCount(input)} · ${share} from the cache`
    : formatCount(input)
}

/** Formats a share in per cent; undefined when the whole is 0. */
function percent(part: number, whole: number): string | undefined {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : undefined
}
