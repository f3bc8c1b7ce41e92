/**
 * Converts a time from another program, either a date string or a number, to milliseconds since 1970. Returns
 * undefined for anything else, and for numbers outside the range of Date: some programs count nanoseconds.
 */
export function toTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Math.abs(time) <= MAX_TIME_MS ? time : undefined
}

/** The largest time value that ECMAScript's Date accepts. */
const MAX_TIME_MS = 8.64e15
