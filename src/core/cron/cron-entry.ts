import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { isPrintableSender } from '../base/sender-name.ts'
import { DEFAULT_AGENT } from '../config/default-name.ts'
import {
  checkValue,
  filledString,
  strictTable,
  type TableIssue,
  tableCheck,
  wholeNumber,
} from '../config/schema.ts'
import type { ValidationIssue } from '../config/validation-issue.ts'
import { nextFire, type QuietHours, readTimeOfDay, type Timing } from './quiet-hours.ts'
import { parseSchedule } from './schedule.ts'

/** The sender of an entry that does not name one. */
export const DEFAULT_CRON_SENDER = 'cron'

const timeOfDay = () =>
  z.string().check(z.refine((text) => readTimeOfDay(text) !== undefined, 'must be a time such as "23:00"'))

/** The schema of a `[[cron]]` table in config/crons.toml (ADR 0138). */
const cronTable = strictTable({
  /** Unique; never changes. */
  id: wholeNumber(1),
  schedule: z.string(),
  /** Sends `/<skill>`: the name of a skill, optionally followed by its arguments. */
  skill: z.exactOptional(filledString()),
  /** The message to send, instead of a skill. */
  content: z.exactOptional(filledString()),
  agent: z._default(filledString(), DEFAULT_AGENT),
  /** The sender whose conversation the message goes to. */
  sender: z._default(
    filledString().check(
      z.refine(isPrintableSender, 'must not have invisible characters, or start or end with a blank'),
    ),
    DEFAULT_CRON_SENDER,
  ),
  /** Nothing fires from `quiet_start` to `quiet_end`, local time. Set both or neither. */
  quiet_start: z.exactOptional(timeOfDay()),
  quiet_end: z.exactOptional(timeOfDay()),
  /** Whether the entry fires only once and is then removed. */
  once: z._default(z.boolean(), false),
}).check(tableCheck(findIssues))

/** One valid entry, with the keys of the file. */
export type CronEntry = z.infer<typeof cronTable>

/** An entry that can fire. */
export interface Cron {
  entry: CronEntry
  timing: Timing
}

/**
 * Parses one table. `cron` is undefined when the entry is invalid; `findings` may also concern an entry that
 * can fire.
 */
export function parseCronEntry(table: JsonObject): {
  cron: Cron | undefined
  findings: readonly ValidationIssue[]
} {
  const outcome = checkValue(cronTable, table)
  if (!outcome.ok) return { cron: undefined, findings: outcome.problems }
  const entry = outcome.value
  const read = parseSchedule(entry.schedule)
  if (!read.ok) return { cron: undefined, findings: [{ path: ['schedule'], message: read.why }] }
  const quiet = toQuietHours(entry)
  return { cron: { entry, timing: { schedule: read.schedule, quiet } }, findings: checkQuietHours(entry) }
}

/** Returns the message an entry sends to its agent. */
export function cronContent({ skill, content = '' }: Pick<CronEntry, 'skill' | 'content'>): string {
  return skill === undefined ? content : `/${skill}`
}

/**
 * Returns the next fires of entries, soonest first, at most `count` in total; an entry that fires once has
 * one.
 */
export function computeNextFires(
  crons: readonly Cron[],
  now: number,
  count: number,
): { at: number; cron: Cron }[] {
  const all = crons.flatMap((cron) => {
    const times: { at: number; cron: Cron }[] = []
    const most = cron.entry.once ? 1 : count
    let at = nextFire(cron.timing, now)
    for (; at !== undefined && times.length < most; at = nextFire(cron.timing, at)) times.push({ at, cron })
    return times
  })
  return all.toSorted((a, b) => a.at - b.at).slice(0, count)
}

function toQuietHours({ quiet_start, quiet_end }: CronEntry): QuietHours | undefined {
  if (quiet_start === undefined || quiet_end === undefined) return undefined
  return { start: readTimeOfDay(quiet_start)!, end: readTimeOfDay(quiet_end)! }
}

/** Reports quiet hours that lack one of the two times; they are ignored. */
function checkQuietHours({ quiet_start, quiet_end }: CronEntry): ValidationIssue[] {
  if ((quiet_start === undefined) === (quiet_end === undefined)) return []
  const [present, missing] =
    quiet_start === undefined ? ['quiet_end', 'quiet_start'] : ['quiet_start', 'quiet_end']
  const message = `"${present}" is ignored: it has no "${missing}"`
  return [{ path: [present], message, hint: `add ${missing} = "07:00"` }]
}

function* findIssues(table: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  const { schedule, skill, content, quiet_start: start, quiet_end: end } = table
  const read = typeof schedule === 'string' ? parseSchedule(schedule) : undefined
  if (read?.ok === false) {
    yield {
      path: ['schedule'],
      predicate: `is invalid: ${read.why}`,
      hint: 'for example "0 0 9 * * MON-FRI"',
    }
  }
  if (skill !== undefined && content !== undefined) {
    yield { path: ['content'], predicate: 'cannot be combined with "skill"', hint: 'remove one of them' }
  }
  if (skill === undefined && content === undefined && !isMisspelt) {
    yield { path: ['skill'], predicate: 'is missing, and so is "content"', hint: 'skill = "check-feeds"' }
  }
  if (typeof start === 'string' && start === end) {
    yield { path: ['quiet_end'], predicate: 'is the same time as "quiet_start"' }
  }
}
