import type { CommandHandler } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type Cron, computeNextFires } from '../../core/cron/cron-entry.ts'
import { parseSchedule } from '../../core/cron/schedule.ts'
import { findCron, formatContentCell, requireCrons } from './entries.ts'
import { localTime, timeLeft } from './time-left.ts'

const DEFAULT_COUNT = '10'
const MAX_COUNT = 1000

/**
 * Runs `crabtalk cron next`: lists the next fires of one entry, of all entries, or of a schedule that no
 * entry has yet.
 */
export const listNextFiresCommand: CommandHandler = async ({ options, host }) => {
  const count = Math.min(parseCount('count', options.value('count') ?? DEFAULT_COUNT, 1), MAX_COUNT)
  const [typed] = options.args
  const now = Date.now()
  const coming = computeNextFires(await resolveCrons(host, typed), now, count)
  if (options.has('json')) {
    return printJson(
      host,
      coming.map(({ at, cron }) => ({ at: new Date(at).toISOString(), id: cron.entry.id || null })),
    )
  }
  const rows = coming.map(({ at, cron: { entry } }) => {
    return [
      localTime(at),
      timeLeft(at, now),
      ...(entry.id === 0 ? [] : [String(entry.id), formatContentCell(entry)]),
    ]
  })
  if (rows.length === 0) host.stderr.write('Nothing fires again\n')
  else await printTable(host, ['TIME', 'LEFT', ...(rows[0]!.length > 2 ? ['ID', 'MESSAGE'] : [])], rows)
  return 0
}

async function resolveCrons(host: Host, typed: string | undefined): Promise<readonly Cron[]> {
  const paths = resolvePaths(host)
  if (typed === undefined) return (await requireCrons(paths)).crons
  if (!/[\s@*]/.test(typed)) return [await findCron(paths, typed)]
  const read = parseSchedule(typed)
  if (!read.ok) throw new CrabError('usage', `Cannot use "${typed}" as a schedule: ${read.why}`)
  const entry = { id: 0, schedule: typed, content: '', agent: '', sender: '', once: false }
  return [{ entry, timing: { schedule: read.schedule, quiet: undefined } }]
}
