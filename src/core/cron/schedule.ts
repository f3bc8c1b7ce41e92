import { Cron } from 'croner'

/** When an entry fires, as its file says it; in the time zone of this process. */
export interface Schedule {
  readonly text: string
  /** The first time after this one, milliseconds since 1970; undefined when none comes any more. */
  next(after: number): number | undefined
}

/** A schedule, or why a text is none, as the end of a sentence. */
export type ScheduleResult = { ok: true; schedule: Schedule } | { ok: false; why: string }

/**
 * Reads an expression of six fields (second, minute, hour, day of the month, month, day of the week), of five without the
 * second, which then is 0, or a name such as `@daily` (RFC 0080).
 *
 * Where clocks are set forward, a schedule that names its times fires at the first moment behind the gap, one with `*` or a
 * step in them skips it; where they are set back, the first fires once, the other in both passes.
 */
export function parseSchedule(text: string): ScheduleResult {
  const fields = text.trim().split(/\s+/)
  const isName = fields.length === 1 && fields[0]!.startsWith('@')
  if (!isName && fields.length !== 5 && fields.length !== 6) return { ok: false, why: FIELDS }
  const pattern = fields.join(' ')
  if (isName && !NAMES.has(pattern.toLowerCase()))
    return { ok: false, why: `there is no "${pattern}", only ${[...NAMES].join(', ')}` }
  try {
    const cron = new Cron(pattern, { paused: true, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
    const next = (after: number) => cron.nextRun(new Date(after))?.getTime()
    if (next(ANY_TIME) === undefined) return { ok: false, why: 'no such day ever comes' }
    return { ok: true, schedule: { text: pattern, next } }
  } catch (reason) {
    return { ok: false, why: toReason(reason) }
  }
}

/** The names that stand for an expression. */
const NAMES: ReadonlySet<string> = new Set([
  '@hourly',
  '@daily',
  '@midnight',
  '@weekly',
  '@monthly',
  '@yearly',
  '@annually',
])
const FIELDS = 'it has neither six fields (second minute hour day month weekday) nor five'
/** Patterns have no year, so that what comes after some time comes after any. */
const ANY_TIME = Date.UTC(2024, 0, 1)

/** What the library says, without its own name and the stop at the end. */
function toReason(reason: unknown): string {
  const message = reason instanceof Error ? reason.message : String(reason)
  const [sentence = ''] = message.replace(/^CronPattern: /, '').split(/\.(?=\s|$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
