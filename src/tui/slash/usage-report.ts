import { request } from '../../core/protocol/dispatch.ts'
import {
  sumAll,
  sumUsage,
  toUsageCells,
  USAGE_GROUPS,
  type UsageGroup,
  usageHeader,
} from '../../core/protocol/usage-table.ts'
import { newPage } from '../overlays/page.ts'
import { cleanLine } from '../view/clean.ts'
import { measureWidth, padText } from '../view/text.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/usage [PART]`: shows the tokens and cost of the last 30 days, by day or another part, of all conversations. */
export async function showUsage(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const by = args === '' ? 'day' : USAGE_GROUPS.find((one) => one === args)
  if (by === undefined)
    return printNotice(
      context,
      'warning',
      `Cannot show the usage by ${args}`,
      `use ${USAGE_GROUPS.join(', ')}`,
    )
  const since = new Date(context.ports.now() - SHOWN_MS).toISOString()
  const { rows } = await request(context.dispatch, 'usageReport', { since }, signal)
  if (rows.length === 0) return printNotice(context, 'info', 'No turns in the last 30 days')
  const cells = [usageHeader(by), ...toUsageCells(sumUsage(rows, by), sumAll('', rows), ({ name }) => name)]
  const others = USAGE_GROUPS.filter((one) => one !== by).map((one: UsageGroup) => `/usage ${one}`)
  const text = `${alignCells(cells)}\n\n${others.join(' · ')} · longer: crabtalk usage --since 1y`
  showOverlay(context, newPage('Usage of the last 30 days', text))
}

const SHOWN_MS = 30 * 24 * 3_600_000

function alignCells(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(cleanLine))
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => measureWidth(row[at] ?? ''))))
  return cells
    .map((row) =>
      row
        .map((cell, at) => padText(cell, widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
