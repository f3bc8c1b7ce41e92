import { toLocalDay } from '../../core/base/format.ts'
import type { ReportUsage, UsageList } from '../../core/protocol/crabtalk.generated.ts'
import type { Services } from '../services.ts'

/**
 * Handles `usage_report`: returns the tokens and costs of the stored turns since a time, by day, model, agent and
 * directory. Costs are computed with the current prices.
 */
export async function reportUsage(
  { usage, models }: Pick<Services, 'usage' | 'models'>,
  { since }: ReportUsage,
  signal: AbortSignal,
): Promise<UsageList> {
  const first = since === '' ? '' : toLocalDay(new Date(since))
  const [rows, registry] = await Promise.all([usage.rows(), models(signal).catch(() => undefined)]) // without models no price is known
  return {
    rows: rows
      .filter(({ day }) => day >= first)
      .map(({ usage: { input, output, cache_read, cache_write, reasoning }, ...row }) => {
        const tokens = { input, output, cache_read, cache_write, reasoning }
        const costUsd = registry?.costUsd(row.model, tokens)
        return {
          ...row,
          ...{ input, output, reasoning, cacheRead: cache_read, cacheWrite: cache_write },
          ...(costUsd !== undefined && { costUsd }),
        }
      }),
  }
}
