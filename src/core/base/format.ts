/**
 * Formats the time since an RFC 3339 timestamp in its largest unit, such as `3h`; `-` when there is no valid
 * timestamp.
 */
export function formatAge(since: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(since)) / 1000)
  if (!Number.isFinite(seconds)) return '-'
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / size)}${unit}`
}

/** Formats bytes as megabytes, as in `daemon status`; `-` when the number is unknown. */
export function formatMegabytes(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${Math.round(bytes / 1_000_000)} MB`
}

/** Returns an amount with its noun: `1 process`, `2 processes`. */
export function pluralize(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`
}

/** Formats a number with commas between thousands, independent of the system language. */
export function groupDigits(amount: number): string {
  return amount.toLocaleString('en')
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
]
