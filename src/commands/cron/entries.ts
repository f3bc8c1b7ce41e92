import { headOf } from '../../core/base/cut.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { type Cron, type CronEntry, contentOf } from '../../core/cron/cron-entry.ts'
import { CronFile, type StandingCrons } from '../../core/cron/cron-file.ts'
import type { Attached } from '../../daemon/attached.ts'

/** What config/crons.toml says. Throws `config` or `storage` when it cannot be read. */
export async function readStanding(paths: Pick<HomePaths, 'crons'>): Promise<StandingCrons> {
  const standing = await new CronFile({ path: paths.crons, lock: onlyReads }).read()
  if (standing.broken) throw standing.broken
  return standing
}

/** The file for changes. */
export function openCronFile(
  { crons }: Pick<HomePaths, 'crons'>,
  { lease }: Pick<Attached, 'lease'>,
): CronFile {
  return new CronFile({ path: crons, lock: lease })
}

/** The entry of an id, as people type it. Throws `usage` for what is no id, `missing` and `config` when it cannot fire. */
export async function findCron(paths: Pick<HomePaths, 'crons'>, typed: string): Promise<Cron> {
  const id = readId(typed)
  const { crons, problems } = await readStanding(paths)
  const found = crons.find(({ entry }) => entry.id === id)
  if (found) return found
  const hint = problems.length === 0 ? SEE : `${SEE}, and what is wrong with the file`
  throw new CrabError('missing', `Cannot find the entry ${id}`, { hint })
}

/** Throws `usage` for what is no id. */
export function readId(typed: string): number {
  const id = Number(typed)
  if (/^\d+$/.test(typed) && Number.isSafeInteger(id)) return id
  throw new CrabError('usage', `Cannot use "${typed}" as an entry: its id is no number`, { hint: SEE })
}

/** What an entry says to its agent, in a cell of a table: one line, its beginning. */
export function inCell(entry: Pick<CronEntry, 'skill' | 'content'>): string {
  const line = contentOf(entry).replaceAll(/\s+/g, ' ')
  return line.length > MOST_CHARS ? `${headOf(line, MOST_CHARS - 1)}…` : line
}

const MOST_CHARS = 48
const SEE = 'crabtalk cron list shows them'

function onlyReads(): never {
  throw new CrabError('internal', 'Unexpected failure: this file is only read')
}
