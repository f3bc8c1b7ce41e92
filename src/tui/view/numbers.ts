/** Formats a duration: `40 ms`, `1.2 s`, `3 m 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
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

/** Renders a bar of `columns` columns, filled to a share from 0 to 1. */
export function meter(share: number, columns: number): string {
  const full = Math.min(columns, Math.max(0, Math.round(share * columns)))
  return '━'.repeat(full) + '╌'.repeat(columns - full)
}

/** The average characters per token, to estimate counts that the provider has not reported yet. */
export const CHARS_PER_TOKEN = 4

function toDigits(number: number): string {
  const digits = number < 10 ? 2 : number < 100 ? 1 : 0
  const text = number.toFixed(digits)
  return digits === 0 ? text : text.replace(/\.?0+$/, '')
}
