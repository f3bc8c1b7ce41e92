/** Milliseconds a server asks to be left alone for (RFC 9110 §10.2.3), at least a quarter of a second; undefined when it does not say. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, LEAST_MS), MOST_MS)
}

const LEAST_MS = 250
/** Whoever asks for more does not mean it. */
const MOST_MS = 3_600_000
