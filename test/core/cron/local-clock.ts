/** What the clocks of a time zone show in every second of a window of real time. */
export interface LocalClock {
  /** First second of the window, milliseconds since 1970. */
  readonly start: number
  /** Of each second what clocks show, as seconds since 1970 of a clock without a zone. */
  readonly shown: Float64Array
}

/** Reads the clocks of the zone this process is in, second by second. */
export function readLocalClock(start: number, seconds: number): LocalClock {
  const shown = new Float64Array(seconds)
  for (let index = 0; index < seconds; index++) {
    const date = new Date(start + index * 1000)
    const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
    shown[index] = day / 1000 + date.getHours() * 3600 + date.getMinutes() * 60 + date.getSeconds()
  }
  return { start, shown }
}

/** The moments of a year at which the offset of the zone of this process changes, to the minute. */
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

/** One field of a schedule: how it is written, and what it means. */
export interface Field {
  text: string
  values: ReadonlySet<number>
}

/** A schedule by its fields, of every day of the month and every month. */
export interface Fields {
  second: Field
  minute: Field
  hour: Field
  weekday: Field
}

/**
 * When a schedule fires in a window, found by looking at every second of it: whenever clocks show such a time; but one that
 * names its times fires at the first showing of each alone, and where clocks jump over one, right behind the gap.
 */
export function walk({ start, shown }: LocalClock, fields: Fields): number[] {
  const isFixed = ![fields.second, fields.minute, fields.hour].some(({ text }) => /[*/]/.test(text))
  const seen = new Set<number>()
  const fires: number[] = []
  for (const [index, now] of shown.entries()) {
    const before = index === 0 ? now - 1 : shown[index - 1]!
    const from = isFixed && now > before ? before + 1 : now // all that clocks jumped over, and this
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
