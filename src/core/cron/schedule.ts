import { Cron } from 'croner'

/** A parsed schedule, in the time zone of this process. */
export interface Schedule {
  readonly text: string
  /** Returns the first time after `after`, in milliseconds since 1970; undefined when there is none. */
  next(after: number): number | undefined
}

/** A schedule, or the reason why the text is invalid, as the end of a sentence. */
export type ScheduleResult = { ok: true; schedule: Schedule } | { ok: false; why: string }

/**
 * Parses an expression of six fields (second, minute, hour, day of the month, month, day of the week), of
 * five fields without the second, which is then 0, or a name such as `@daily` (ADR 0138).
 *
 * When clocks are set forward, a schedule with fixed times fires at the first moment after the gap, and one
 * with `*` or a step in its times skips the gap. When clocks are set back, the former fires once, the latter
 * in both passes.
 */
export function parseSchedule(text: string): ScheduleResult {
  const fields = text.trim().split(/\s+/)
  const isName = fields.length === 1 && fields[0]!.startsWith('@')
  if (!isName && fields.length !== 5 && fields.length !== 6) return { ok: false, why: FIELDS }
  const pattern = fields.join(' ')
  if (isName && !NAMES.has(pattern.toLowerCase()))
    return { ok: false, why: `"${pattern}" is not one of ${[...NAMES].join(', ')}` }
  try {
    const cron = new Cron(pattern, { paused: true, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
    const next = (after: number) => cron.nextRun(new Date(after))?.getTime()
    if (next(ANY_TIME) === undefined) return { ok: false, why: 'it matches no day' }
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
const FIELDS = 'it needs six fields (second minute hour day month weekday), or five without the second'
/** Any reference time will do: expressions have no year, so one that fires after this time fires after any. */
const ANY_TIME = Date.UTC(2024, 0, 1)

/** Returns the library's error message without its own prefix and the final full stop. */
function toReason(reason: unknown): string {
  const message = reason instanceof Error ? reason.message : String(reason)
  const [sentence = ''] = message.replace(/^CronPattern: /, '').split(/\.(?=\s|$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
