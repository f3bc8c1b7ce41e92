/** Tokens as people read them: `950`, `12.3k`, `1.2M`. */
export function tokenText(tokens: number): string {
  if (tokens < 1_000) return String(tokens)
  const [size, unit] = tokens < 999_950 ? [1_000, 'k'] : [1_000_000, 'M']
  return `${(tokens / size).toFixed(1).replace(/\.0$/, '')}${unit}`
}

/** US dollars as people read them; `unknown` where no price is known. */
export function dollarText(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  if (usd === 0) return '$0'
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}

/** A share in per cent; undefined of nothing. */
export function percent(part: number, whole: number): string | undefined {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : undefined
}

/** A bar of so many columns, filled as far as the share says. */
export function bar(part: number, whole: number, columns: number): string {
  const filled = Math.min(columns, Math.max(part > 0 ? 1 : 0, Math.round((part / whole) * columns)))
  return '█'.repeat(filled) + '░'.repeat(columns - filled)
}

/** Bytes as people read them. */
export function byteText(bytes: number): string {
  const [size, unit] = bytes < 1_000_000 ? [1_000, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return `${(bytes / size).toFixed(bytes < 10 * size ? 1 : 0)} ${unit}`
}
