/**
 * Milliseconds since 1970 of what another program gives as a time: a text that Date knows, or such a number. Undefined for
 * anything else, also for a number that no Date can be of: some count nanoseconds.
 */
export function toTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Math.abs(time) <= MOST_TIME ? time : undefined
}

/** ECMAScript's. */
const MOST_TIME = 8.64e15
