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
import { type QuietHours, readTimeOfDay, type Timing } from './quiet-hours.ts'
import { parseSchedule } from './schedule.ts'

/** Of an entry that names none. */
export const DEFAULT_CRON_SENDER = 'cron'

const timeOfDay = () =>
  z.string().check(z.refine((text) => readTimeOfDay(text) !== undefined, 'must be a time such as "23:00"'))

/** What a `[[cron]]` table of config/crons.toml may say (RFC 0080). */
const cronTable = strictTable({
  /** Its own, for good. */
  id: wholeNumber(1),
  schedule: z.string(),
  /** What is said is `/<skill>`: its name, and perhaps what goes along with it. */
  skill: z.exactOptional(filledString()),
  /** What is said, instead of a skill. */
  content: z.exactOptional(filledString()),
  agent: z._default(filledString(), DEFAULT_AGENT),
  /** Whose conversation it is said in. */
  sender: z._default(
    filledString().check(
      z.refine(isPrintableSender, 'must not have invisible characters, or a blank at an end'),
    ),
    DEFAULT_CRON_SENDER,
  ),
  /** Nothing fires from `quiet_start` to `quiet_end`, local time; both or none. */
  quiet_start: z.exactOptional(timeOfDay()),
  quiet_end: z.exactOptional(timeOfDay()),
  /** Fires once, and is removed. */
  once: z._default(z.boolean(), false),
}).check(tableCheck(findIssues))

/** One entry, as the file has it. Keys are those of the file. */
export type CronEntry = z.infer<typeof cronTable>

/** One entry that can fire. */
export interface Cron {
  entry: CronEntry
  timing: Timing
}

/** One table as an entry, if it is one; what is wrong with it, also where it can fire nevertheless. */
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

/** What an entry says to its agent. */
export function cronContent({ skill, content = '' }: Pick<CronEntry, 'skill' | 'content'>): string {
  return skill === undefined ? content : `/${skill}`
}

function toQuietHours({ quiet_start, quiet_end }: CronEntry): QuietHours | undefined {
  if (quiet_start === undefined || quiet_end === undefined) return undefined
  return { start: readTimeOfDay(quiet_start)!, end: readTimeOfDay(quiet_end)! }
}

/** RFC 0080 ignores quiet hours that lack an end; whoever wrote them is told. */
function checkQuietHours({ quiet_start, quiet_end }: CronEntry): ValidationIssue[] {
  if ((quiet_start === undefined) === (quiet_end === undefined)) return []
  const [there, missing] =
    quiet_start === undefined ? ['quiet_end', 'quiet_start'] : ['quiet_start', 'quiet_end']
  const message = `"${there}" is ignored: it has no "${missing}"`
  return [{ path: [there], message, hint: `add ${missing} = "07:00"` }]
}

function* findIssues(table: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  const { schedule, skill, content, quiet_start: start, quiet_end: end } = table
  const read = typeof schedule === 'string' ? parseSchedule(schedule) : undefined
  if (read?.ok === false) {
    yield {
      path: ['schedule'],
      predicate: `is no schedule: ${read.why}`,
      hint: 'for example "0 0 9 * * MON-FRI"',
    }
  }
  if (skill !== undefined && content !== undefined) {
    yield { path: ['content'], predicate: 'cannot stand beside "skill"', hint: 'leave one of them out' }
  }
  if (skill === undefined && content === undefined && !isMisspelt) {
    yield { path: ['skill'], predicate: 'is missing, and so is "content"', hint: 'skill = "check-feeds"' }
  }
  if (typeof start === 'string' && start === end) {
    yield { path: ['quiet_end'], predicate: 'is the same time as "quiet_start"' }
  }
}
