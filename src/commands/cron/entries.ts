import { CrabError } from '../../core/base/errors.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { type Cron, type CronEntry, cronContent } from '../../core/cron/cron-entry.ts'
import { CronFile, type LoadedCrons } from '../../core/cron/cron-file.ts'
import type { RuntimeConnection } from '../../daemon/runtime-connection.ts'

/** What config/crons.toml says. Throws `config` or `storage` when it cannot be read. */
export async function requireCrons(paths: Pick<HomePaths, 'crons'>): Promise<LoadedCrons> {
  const standing = await new CronFile({ path: paths.crons, lock: refuseLock }).read()
  if (standing.broken) throw standing.broken
  return standing
}

/** The file for changes. */
export function openCronFile(
  { crons }: Pick<HomePaths, 'crons'>,
  { lease }: Pick<RuntimeConnection, 'lease'>,
): CronFile {
  return new CronFile({ path: crons, lock: lease })
}

/** The entry of an id, as people type it. Throws `usage` for what is no id, `missing` and `config` when it cannot fire. */
export async function findCron(paths: Pick<HomePaths, 'crons'>, typed: string): Promise<Cron> {
  const id = readId(typed)
  const { crons, problems } = await requireCrons(paths)
  const found = crons.find(({ entry }) => entry.id === id)
  if (found) return found
  const hint = problems.length === 0 ? LIST_HINT : `${LIST_HINT}, and what is wrong with the file`
  throw new CrabError('missing', `Cannot find the entry ${id}`, { hint })
}

/** Throws `usage` for what is no id. */
export function readId(typed: string): number {
  const id = Number(typed)
  if (/^\d+$/.test(typed) && Number.isSafeInteger(id)) return id
  throw new CrabError('usage', `Cannot use "${typed}" as an entry: its id is no number`, { hint: LIST_HINT })
}

/** What an entry says to its agent, in a cell of a table: one line, its beginning. */
export function formatContentCell(entry: Pick<CronEntry, 'skill' | 'content'>): string {
  const line = cronContent(entry).replaceAll(/\s+/g, ' ')
  return line.length > MOST_CHARS ? `${takeStart(line, MOST_CHARS - 1)}…` : line
}

const MOST_CHARS = 48
const LIST_HINT = 'crabtalk cron list shows them'

function refuseLock(): never {
  throw new CrabError('internal', 'Unexpected failure: this file is only read')
}
