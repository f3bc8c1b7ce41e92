/**
 * Parses Retry-After (RFC 9110, section 10.2.3) to milliseconds, from a quarter of a second to an hour;
 * undefined when it is absent or invalid.
 */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, MIN_MS), MAX_MS)
}

const MIN_MS = 250
/** Caps unreasonable pauses. */
const MAX_MS = 3_600_000
