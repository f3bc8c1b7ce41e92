/** Seconds since 1970 as ISO 8601 in UTC; `@` and the seconds where no calendar reaches. */
export function toIsoTime(seconds: bigint): string {
  return seconds > LAST_SECOND
    ? `@${seconds}`
    : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/** Whole seconds since 1970 of a time as toIsoTime() writes it, or of any ISO 8601; undefined for no time, and before 1970. */
export function fromIsoTime(text: string): bigint | undefined {
  if (/^@\d{1,20}$/.test(text)) {
    const seconds = BigInt(text.slice(1))
    return seconds < 2n ** 64n ? seconds : undefined
  }
  if (!/^[+-]?\d{4,6}-\d\d/.test(text)) return undefined // Date.parse takes much that is none
  const time = Date.parse(text)
  return time >= 0 ? BigInt(Math.floor(time / 1000)) : undefined
}

/** The last that Date knows. */
const LAST_SECOND = 8_640_000_000_000n
