/** The local clock of a time zone for every second of a window of real time. */
export interface LocalClock {
  /** First second of the window, milliseconds since 1970. */
  readonly start: number
  /** The local time for each second, as seconds since 1970 of a clock without a zone. */
  readonly shown: Float64Array
}

/** Reads the local clock of this process's zone, second by second. */
export function readLocalClock(start: number, seconds: number): LocalClock {
  const shown = new Float64Array(seconds)
  for (let index = 0; index < seconds; index++) {
    const date = new Date(start + index * 1000)
    const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
    shown[index] = day / 1000 + date.getHours() * 3600 + date.getMinutes() * 60 + date.getSeconds()
  }
  return { start, shown }
}

/** Returns the moments of a year when the UTC offset of this process's zone changes, to the minute. */
export function findChanges(year: number): number[] {
  const offset = (at: number) => new Date(at).getTimezoneOffset()
  const changes: number[] = []
  const [first, last] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
  for (let hour = first; hour < last; hour += HOUR) {
    if (offset(hour) === offset(hour + HOUR)) continue
    let at = hour
    while (offset(at) === offset(hour)) at += MINUTE
    changes.push(at)
  }
  return changes
}

/** A field of a schedule: its text, and its values. */
export interface Field {
  text: string
  values: ReadonlySet<number>
}

/** Returns a schedule from its fields, for every day of the month and every month. */
export interface Fields {
  second: Field
  minute: Field
  hour: Field
  weekday: Field
}

/**
 * Computes when a schedule fires in a window by checking every second: whenever the local clock shows a
 * matching time; but a schedule with fixed times fires at the first occurrence of each only, and directly
 * after the gap when the clock skips one.
 */
export function walk({ start, shown }: LocalClock, fields: Fields): number[] {
  const isFixed = ![fields.second, fields.minute, fields.hour].some(({ text }) => /[*/]/.test(text))
  const seen = new Set<number>()
  const fires: number[] = []
  for (const [index, now] of shown.entries()) {
    const before = index === 0 ? now - 1 : shown[index - 1]!
    const from = isFixed && now > before ? before + 1 : now // every skipped time, and this one
    let fits = false
    for (let second = from; second <= now; second++) {
      if (!matches(fields, second) || (isFixed && seen.has(second))) continue
      const isToday = Math.floor(second / DAY) === Math.floor(now / DAY)
      if (isFixed) seen.add(second)
      if (isToday) fits = true
    }
    if (fits) fires.push(start + index * 1000)
  }
  return fires
}

function matches({ second, minute, hour, weekday }: Fields, shown: number): boolean {
  const time = ((shown % DAY) + DAY) % DAY
  return (
    second.values.has(time % 60) &&
    minute.values.has(Math.floor(time / 60) % 60) &&
    hour.values.has(Math.floor(time / 3600)) &&
    weekday.values.has(new Date(shown * 1000).getUTCDay())
  )
}

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400
