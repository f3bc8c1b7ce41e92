/**
 * Formats a past time relative to now, such as `3h ago`. A future time counts as now; an invalid one is
 * returned unchanged.
 */
export function relativeTime(then: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(then)) / 1000)
  if (!Number.isFinite(seconds)) return then
  const [name, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1]
  return seconds < 5 ? 'now' : `${Math.floor(seconds / size)}${name} ago`
}

const UNITS: readonly [string, number][] = [
  ['y', 365 * 86_400],
  ['mo', 30 * 86_400],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
]
