/** Formats a share in per cent; undefined when the whole is 0. */
export function percent(part: number, whole: number): string | undefined {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : undefined
}

/** Formats a number of bytes with a decimal unit. */
export function byteText(bytes: number): string {
  const [size, unit] = bytes < 1e6 ? [1e3, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return `${(bytes / size).toFixed(bytes < 10 * size ? 1 : 0)} ${unit}`
}
