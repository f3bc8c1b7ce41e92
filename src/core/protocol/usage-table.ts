import { formatCount, formatUsd } from '../base/format.ts'
import type { UsageRow } from './crabtalk.generated.ts'

/** The parts of a usage row by which rows are added up. */
export const USAGE_GROUPS = ['day', 'model', 'agent', 'directory'] as const

export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** The sum of usage rows that have one part in common. */
export interface UsageSum {
  /** The day, model, agent or directory; empty for the sum of all rows. */
  name: string
  turns: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  /** US dollars; as far as prices are known. */
  costUsd: number
  /** Whether the price of a model was unknown. */
  isIncomplete: boolean
}

/** Adds up usage rows: days in their order, everything else with the most expensive first. */
export function sumUsage(rows: readonly UsageRow[], by: UsageGroup): UsageSum[] {
  const groups = Map.groupBy(rows, (row) => (by === 'directory' ? row.cwd : row[by]))
  const sums = [...groups].map(([name, members]) => sumAll(name, members))
  const sorted = sums.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  return by === 'day'
    ? sorted
    : sorted.toSorted((a, b) => b.costUsd - a.costUsd || totalTokens(b) - totalTokens(a))
}

/** Adds up all rows. */
export function sumAll(name: string, rows: readonly UsageRow[]): UsageSum {
  const add = (part: 'turns' | 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning') =>
    rows.reduce((sum, row) => sum + row[part], 0)
  return {
    name,
    turns: add('turns'),
    input: add('input'),
    output: add('output'),
    cacheRead: add('cacheRead'),
    cacheWrite: add('cacheWrite'),
    reasoning: add('reasoning'),
    costUsd: rows.reduce((sum, row) => sum + (row.costUsd ?? 0), 0),
    isIncomplete: rows.some((row) => row.costUsd === undefined),
  }
}

/** The header of the table whose rows toUsageCells() returns. */
export function usageHeader(by: UsageGroup): string[] {
  return [by.toUpperCase(), 'TURNS', 'INPUT', 'CACHED', 'OUTPUT', 'COST', '']
}

/**
 * Returns the rows of a table of sums: the name, the numbers, and a bar whose length shows the share of the largest
 * sum, in cost if all prices are known, otherwise in tokens. The last row is the total. The longest bar has
 * `barColumns` columns.
 */
export function toUsageCells(
  sums: readonly UsageSum[],
  total: UsageSum,
  name: (sum: UsageSum) => string,
  barColumns = BAR_COLUMNS,
): string[][] {
  const size = total.isIncomplete ? totalTokens : (sum: UsageSum) => sum.costUsd
  const most = Math.max(...sums.map(size))
  const rows = sums.map((sum) => [
    ...toCells(sum, name(sum)),
    toBar(most > 0 ? size(sum) / most : 0, barColumns),
  ])
  return [...rows, [...toCells(total, 'total'), '']]
}

function toCells(sum: UsageSum, name: string): string[] {
  const cached = sum.input > 0 ? `${Math.round((sum.cacheRead / sum.input) * 100)} %` : '-'
  return [name, String(sum.turns), formatCount(sum.input), cached, formatCount(sum.output), costText(sum)]
}

function costText({ costUsd, isIncomplete }: UsageSum): string {
  if (!isIncomplete) return formatUsd(costUsd)
  return costUsd === 0 ? 'unknown' : `>$${costUsd.toFixed(2)}`
}

function totalTokens({ input, output }: UsageSum): number {
  return input + output
}

/** Renders a bar of at most `columns` columns, in eighths of a column; anything above zero is visible. */
function toBar(share: number, columns: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(share * columns * 8)) : 0
  return '█'.repeat(eighths >> 3) + (EIGHTHS[eighths & 7] ?? '')
}

const BAR_COLUMNS = 20
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
