import { formatUsd } from '../view/numbers.ts'

/** US dollars as people read them; `unknown` where no price is known. */
export function dollarText(usd: number | undefined): string {
  return usd === undefined ? 'unknown' : formatUsd(usd)
}

/** A share in per cent; undefined of nothing. */
export function percent(part: number, whole: number): string | undefined {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : undefined
}

/** A bar of so many columns, filled as far as the share says; a little shows as something. */
export function bar(part: number, whole: number, columns: number): string {
  const filled = Math.min(columns, Math.max(part > 0 ? 1 : 0, Math.round((part / whole) * columns)))
  return '█'.repeat(filled) + '░'.repeat(columns - filled)
}

/** Bytes as people read them. */
export function byteText(bytes: number): string {
  const [size, unit] = bytes < 1e6 ? [1e3, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return `${(bytes / size).toFixed(bytes < 10 * size ? 1 : 0)} ${unit}`
}
