import type { UsageRow } from '../../core/protocol/crabtalk.generated.ts'
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
import { measureWidth, padText, truncateText } from '../view/text.ts'
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
  const others = USAGE_GROUPS.filter((one) => one !== by).map((one: UsageGroup) => `/usage ${one}`)
  const more = `${others.join(' · ')} · longer: crabtalk usage --since 1y`
  const layOut = (columns: number) => [...renderUsageTable(rows, by, columns), '', more].join('\n')
  const page = newPage('Usage of the last 30 days', layOut(Number.POSITIVE_INFINITY))
  showOverlay(context, { ...page, layOut })
}

const SHOWN_MS = 30 * 24 * 3_600_000

/**
 * Renders the sums of usage rows as a table that is at most `columns` wide: the bar becomes shorter, then the name, and then
 * columns are left out, the least important first.
 */
export function renderUsageTable(rows: readonly UsageRow[], by: UsageGroup, columns: number): string[] {
  const sums = sumUsage(rows, by)
  const toTable = (barColumns?: number) =>
    [usageHeader(by), ...toUsageCells(sums, sumAll('', rows), ({ name }) => name, barColumns)].map((row) =>
      row.map(cleanLine),
    )
  const all = toTable()
  let shown = [0, 1, 2, 3, 4, 5]
  for (const dropped of DROP_ORDER) {
    if (tableWidth(pickCells(all, shown)) - nameSlack(all) <= columns) break
    shown = shown.filter((at) => at !== dropped)
  }
  const numbers = tableWidth(pickCells(all, shown))
  const barColumns = Math.min(MAX_BAR_COLUMNS, columns - numbers - BETWEEN)
  const cells =
    barColumns >= MIN_BAR_COLUMNS ? pickCells(toTable(barColumns), [...shown, 6]) : pickCells(all, shown)
  return alignCells(shortenNames(cells, Math.max(0, numbers - columns)))
}

/** The columns of the table in the order in which they are left out: cached, turns, output, input. */
const DROP_ORDER = [3, 1, 4, 2]

const BETWEEN = 2
const MIN_BAR_COLUMNS = 6
const MAX_BAR_COLUMNS = 20
/** The columns that a name keeps as long as there are columns to leave out. */
const MIN_NAME_COLUMNS = 16

type Cells = readonly (readonly string[])[]

function pickCells(rows: Cells, shown: readonly number[]): string[][] {
  return rows.map((row) => shown.map((at) => row[at] ?? ''))
}

function columnWidths(rows: Cells): number[] {
  return rows[0]!.map((_, at) => Math.max(...rows.map((row) => measureWidth(row[at] ?? ''))))
}

function tableWidth(rows: Cells): number {
  const widths = columnWidths(rows)
  return widths.reduce((sum, width) => sum + width, BETWEEN * (widths.length - 1))
}

/** Returns by how many columns the names may be shortened. */
function nameSlack(rows: Cells): number {
  return Math.max(0, columnWidths(rows)[0]! - MIN_NAME_COLUMNS)
}

function shortenNames(rows: Cells, excess: number): Cells {
  if (excess === 0) return rows
  const room = Math.max(1, columnWidths(rows)[0]! - excess)
  return rows.map(([name = '', ...rest]) => [truncateText(name, room), ...rest])
}

function alignCells(rows: Cells): string[] {
  const widths = columnWidths(rows)
  return rows.map((row) =>
    row
      .map((cell, at) => padText(cell, widths[at]!))
      .join(' '.repeat(BETWEEN))
      .trimEnd(),
  )
}
