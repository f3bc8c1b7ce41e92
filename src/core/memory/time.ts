/** Formats seconds since 1970 as ISO 8601 in UTC; as `@` and the seconds when beyond the range of Date. */
export function toIsoTime(seconds: bigint): string {
  return seconds > LAST_SECOND
    ? `@${seconds}`
    : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/**
 * Parses the output of toIsoTime(), or any ISO 8601 time, as whole seconds since 1970; returns undefined for
 * other text and for times before 1970.
 */
export function fromIsoTime(text: string): bigint | undefined {
  if (/^@\d{1,20}$/.test(text)) {
    const seconds = BigInt(text.slice(1))
    return seconds < 2n ** 64n ? seconds : undefined
  }
  if (!/^[+-]?\d{4,6}-\d\d/.test(text)) return undefined // Date.parse also accepts text that is not a time
  const time = Date.parse(text)
  return time >= 0 ? BigInt(Math.floor(time / 1000)) : undefined
}

/** The last second within the range of Date. */
const LAST_SECOND = 8_640_000_000_000n
