import type { HomePaths } from '../../core/config/paths.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { inCell, readStanding } from '../cron/entries.ts'
import type { Candidate } from './suggest.ts'

/** The entries that fire on a schedule. Throws when their file cannot be read. */
export async function scheduled(paths: Pick<HomePaths, 'crons'>): Promise<Candidate[]> {
  const { crons } = await readStanding(paths)
  return crons.map(({ entry }) => {
    return { value: String(entry.id), description: `${describeSchedule(entry.schedule)}: ${inCell(entry)}` }
  })
}
