/**
 * Converts a time from another program, either a date string or a number, to milliseconds since 1970. Returns
 * undefined for anything else, and for numbers outside the range of Date: some programs count nanoseconds.
 */
export function toTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Math.abs(time) <= MOST_TIME ? time : undefined
}

/** The largest time value that ECMAScript's Date accepts. */
const MOST_TIME = 8.64e15
