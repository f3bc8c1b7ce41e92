import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import {
  type Cron,
  computeNextFires,
  DEFAULT_CRON_SENDER,
  parseCronEntry,
} from '../../core/cron/cron-entry.ts'
import { readCronState } from '../../core/cron/cron-state.ts'
import { describeSchedule } from '../../core/cron/describe-schedule.ts'
import { readTimeOfDay } from '../../core/cron/quiet-hours.ts'
import { cronFiles } from '../../core/cron/ready-file.ts'
import { findSchedulerHolder } from '../../core/cron/scheduler-lease.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { openCronFile } from './entries.ts'
import { requireSkill } from './fire-entry.ts'
import { localTime, timeLeft } from './time-left.ts'
import { NO_SCHEDULER } from './view.ts'

/** The number of next fires that are shown. */
const SHOWN_FIRES = 3

/** Runs `crabtalk cron add`: writes an entry after checking its schedule, agent and skill. */
export const addCronEntryCommand: CommandHandler = async ({ options, host, signal }) => {
  const paths = resolvePaths(host)
  const { entry: checked, timing } = readNewEntry(options)
  await using attached = await attach(host, { signal })
  const { dispatch } = attached
  await request(dispatch, 'getAgent', { name: checked.agent }, signal)
  await requireSkill(dispatch, checked, signal)
  const { highest } = await readCronState(cronFiles(paths).state)
  const { id: _, ...newEntry } = checked
  const entry = await openCronFile(paths, attached).add(newEntry, highest + 1, signal)
  const now = Date.now()
  const next = computeNextFires([{ entry, timing }], now, SHOWN_FIRES).map(({ at }) => at)
  if (options.has('json')) {
    return printJson(host, { ...entry, next: next.map((at) => new Date(at).toISOString()) })
  }
  const lines = [
    `entry ${entry.id}: ${describeSchedule(entry.schedule)}${entry.once ? ', once' : ''}`,
    ...next.map((at) => `  ${localTime(at)}  ${timeLeft(at, now)}`),
  ]
  host.stdout.write(sanitize(`${lines.join('\n')}\n`))
  if (!(await findSchedulerHolder(paths))) host.stderr.write(`crabtalk: ${NO_SCHEDULER}\n`)
  return 0
}

/** Reads the entry from the options, with a placeholder id. Throws `usage`. */
function readNewEntry(options: ParsedOptions): Cron {
  const [schedule = '', message = ''] = options.args
  const [start, end] = readQuiet(options.value('quiet'))
  const what: JsonObject = message.startsWith('/') ? { skill: message.slice(1).trim() } : { content: message }
  const { cron, findings } = parseCronEntry({
    id: 1,
    schedule,
    ...what,
    agent: options.value('agent') ?? DEFAULT_AGENT,
    sender: options.value('sender') ?? DEFAULT_CRON_SENDER,
    ...(start !== undefined && { quiet_start: start, quiet_end: end }),
    once: options.has('once'),
  })
  const [first] = findings
  if (cron && !first) {
    if (computeNextFires([cron], Date.now(), 1).length > 0) return cron
    throw new CrabError(
      'usage',
      'Cannot add the entry: it would never fire, because its quiet hours cover all its times',
      { hint: 'shorten --quiet, or choose other times' },
    )
  }
  throw new CrabError('usage', `Cannot add the entry: ${first?.message}`, {
    ...(first?.hint !== undefined && { hint: first.hint }),
  })
}

function readQuiet(text: string | undefined): (string | undefined)[] {
  if (text === undefined) return []
  const times = text.split('-').map((time) => time.padStart(5, '0'))
  if (times.length === 2 && times.every((time) => readTimeOfDay(time) !== undefined)) return times
  throw new CrabError('usage', `Cannot use --quiet ${text}: it is not a time range`, {
    hint: 'for example --quiet 23:00-07:00',
  })
}
