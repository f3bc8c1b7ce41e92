import type { HomePaths } from '../../core/config/paths.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { formatContentCell, requireCrons } from '../cron/entries.ts'
import type { WordCompletion } from './suggest.ts'

/** Returns the entries that fire on a schedule as completions. Throws when their file cannot be read. */
export async function completeCronEntries(paths: Pick<HomePaths, 'crons'>): Promise<WordCompletion[]> {
  const { crons } = await requireCrons(paths)
  return crons.map(({ entry }) => {
    return {
      value: String(entry.id),
      description: `${describeSchedule(entry.schedule)}: ${formatContentCell(entry)}`,
    }
  })
}
