import { CrabError } from '../../core/base/errors.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { type Cron, type CronEntry, cronContent } from '../../core/cron/cron-entry.ts'
import { CronFile, type LoadedCrons } from '../../core/cron/cron-file.ts'
import type { RuntimeConnection } from '../../daemon/runtime-connection.ts'

/** Reads config/crons.toml. Throws `config` or `storage` when it cannot be read. */
export async function requireCrons(paths: Pick<HomePaths, 'crons'>): Promise<LoadedCrons> {
  const loaded = await new CronFile({ path: paths.crons, lock: refuseLock }).read()
  if (loaded.broken) throw loaded.broken
  return loaded
}

/** Opens the file for changes. */
export function openCronFile(
  { crons }: Pick<HomePaths, 'crons'>,
  { lease }: Pick<RuntimeConnection, 'lease'>,
): CronFile {
  return new CronFile({ path: crons, lock: lease })
}

/**
 * Finds an entry by the id that the user typed. Throws `usage` for an invalid id, `missing` when no valid
 * entry has it, and as `requireCrons()` does.
 */
export async function findCron(paths: Pick<HomePaths, 'crons'>, typed: string): Promise<Cron> {
  const id = readId(typed)
  const { crons, problems } = await requireCrons(paths)
  const found = crons.find(({ entry }) => entry.id === id)
  if (found) return found
  const hint = problems.length === 0 ? LIST_HINT : `${LIST_HINT}, and the errors in the file`
  throw new CrabError('missing', `Cannot find the entry ${id}`, { hint })
}

/** Parses an id. Throws `usage` when it is not one. */
export function readId(typed: string): number {
  const id = Number(typed)
  if (/^\d+$/.test(typed) && Number.isSafeInteger(id)) return id
  throw new CrabError('usage', `Cannot use "${typed}" as an entry: an entry id is a number`, {
    hint: LIST_HINT,
  })
}

/** Returns the start of an entry's message as one line, for a table cell. */
export function formatContentCell(entry: Pick<CronEntry, 'skill' | 'content'>): string {
  const line = cronContent(entry).replaceAll(/\s+/g, ' ')
  return line.length > MAX_CHARS ? `${takeStart(line, MAX_CHARS - 1)}…` : line
}

const MAX_CHARS = 48
const LIST_HINT = 'crabtalk cron list shows all entries'

function refuseLock(): never {
  throw new CrabError('internal', 'Unexpected failure: this file is only read')
}
