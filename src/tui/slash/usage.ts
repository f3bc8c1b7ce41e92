import { formatCount, formatUsd, pluralize } from '../../core/base/format.ts'
import { printNotice, printRows } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/cost`: shows the usage of this chat, as far as it is known. */
export function showCost(_args: string, context: SlashContext): void {
  const { input, output, cacheRead, cacheWrite, usd, turns } = context.state().usage
  if (turns === 0) {
    printNotice(context, 'info', 'No turns have ended in this chat yet')
    return
  }
  printRows(context, `Cost of this chat · ${pluralize(turns, 'turn')}`, [
    ['cost', usd === undefined ? 'unknown: the price of a model is not known' : formatUsd(usd)],
    ['input', withShare(input, cacheRead)],
    ['output', formatCount(output)],
    ...(cacheWrite > 0 ? [['written to the cache', formatCount(cacheWrite)]] : []),
  ])
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
