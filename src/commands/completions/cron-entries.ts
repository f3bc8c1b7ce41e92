import type { HomePaths } from '../../core/config/paths.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { formatContentCell, requireCrons } from '../cron/entries.ts'
import type { WordCompletion } from './suggest.ts'

/** The entries that fire on a schedule. Throws when their file cannot be read. */
export async function completeCronEntries(paths: Pick<HomePaths, 'crons'>): Promise<WordCompletion[]> {
  const { crons } = await requireCrons(paths)
  return crons.map(({ entry }) => {
    return {
      value: String(entry.id),
      description: `${describeSchedule(entry.schedule)}: ${formatContentCell(entry)}`,
    }
  })
}
