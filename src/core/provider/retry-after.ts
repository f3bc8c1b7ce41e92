/** An HTTP error answer. */
export interface ErrorResponse {
  status: number
  /** The values by lower-case name. */
  headers: Readonly<Record<string, string>>
  body: string
}

/**
 * Returns how long a server asks to wait, in milliseconds; undefined when it does not say.
 *
 * Reads `retry-after-ms`, `retry-after` in seconds or as an HTTP date, the reset time of a used-up rate limit,
 * Google's `retryDelay`, and the sentence `try again in 20s` of an error message.
 */
export function readRetryAfter({ status, headers, body }: ErrorResponse): number | undefined {
  const exact = headers['retry-after-ms']
  if (exact !== undefined) return wholeMs(Number(exact))
  const after = headers['retry-after']
  if (after !== undefined) {
    return wholeMs(/^[\d.]+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now())
  }
  return (status === 429 ? readReset(headers) : undefined) ?? readDelay(body)
}

/** Returns the time until the last of the used-up limits is reset. */
function readReset(headers: Readonly<Record<string, string>>): number | undefined {
  const resets = LIMITS.flatMap(([remaining, reset]) => {
    const isUsedUp = Number(headers[remaining] ?? 0) <= 0
    const ms = isUsedUp ? parseReset(headers[reset] ?? '') : undefined
    return ms === undefined ? [] : [ms]
  })
  return resets.length === 0 ? undefined : Math.max(...resets)
}

/** Parses `20`, `1741305600` or `1741305600000` (seconds; a time in seconds or milliseconds), `6m0.5s`, or a date. */
function parseReset(text: string): number | undefined {
  if (text === '') return undefined
  const number = Number(text)
  if (number >= MIN_EPOCH_MS) return wholeMs(number - Date.now())
  if (number >= MIN_EPOCH_S) return wholeMs(number * 1000 - Date.now())
  if (!Number.isNaN(number)) return wholeMs(number * 1000)
  if (/^([\d.]+(ms|[dhms]))+$/.test(text)) return wholeMs(parseSpan(text))
  return wholeMs(Date.parse(text) - Date.now())
}

function readDelay(body: string): number | undefined {
  const span = /"retryDelay":\s*"([\d.]+s)"/.exec(body)?.[1]
  const found =
    span ?? /\btry again in ((?:[\d.]+ ?(?:ms|[dhms])\b ?)+|(?:[\d.]+(?:ms|[dhms]))+)/i.exec(body)?.[1]
  return found === undefined ? undefined : wholeMs(parseSpan(found))
}

function parseSpan(text: string): number {
  const parts = [...text.toLowerCase().matchAll(/([\d.]+) ?(ms|[dhms])/g)]
  return parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS],
    0,
  )
}

function wholeMs(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms))
}

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Greater numbers are times since 1970, in seconds or milliseconds, not durations. */
const MIN_EPOCH_S = 1e9
const MIN_EPOCH_MS = 1e12

/** The headers of limits: what is left of one, and when it is reset. */
const LIMITS: readonly (readonly [remaining: string, reset: string])[] = [
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
]
