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

/** Formats the day of a time in the time zone of this machine: `2026-11-23`. */
export function toLocalDay(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

/** Formats the clock of a time in the time zone of this machine: `09:00:00`. */
export function toLocalClock(time: Date): string {
  return time.toTimeString().slice(0, 8)
}

/** Formats a duration: `40 ms`, `1.2 s`, `3 m 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 59_950 ? `${(ms / 1000).toFixed(1)} s` : formatSpan(Math.round(ms / 1000) * 1000)
}

/** Formats whole seconds: `12 s`, `3 m 05 s`. */
export function formatSpan(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

/** Formats a count with at most three digits and a letter: `950`, `12.3k`, `200k`, `1.05M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 999_500) return `${toDigits(count / 1000)}k`
  return `${toDigits(count / 1_000_000)}M`
}

/** Formats a price in US dollars; `unknown` when it is undefined. */
export function formatUsd(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  if (usd > 0 && usd < 0.01) return '<$0.01'
  return `$${usd.toFixed(2)}`
}

function toDigits(number: number): string {
  const digits = number < 10 ? 2 : number < 100 ? 1 : 0
  const text = number.toFixed(digits)
  return digits === 0 ? text : text.replace(/\.?0+$/, '')
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
]
