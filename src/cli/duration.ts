import ms, { type StringValue } from 'ms'
import { CrabError } from '../core/base/errors.ts'

/**
 * Parses `30s`, `10m` and other single units of ms(1), or plain seconds, and returns milliseconds. Compound
 * durations such as `1h30m` are not supported. `0` means no limit and returns 0. Throws `usage`.
 */
export function parseDuration(option: string, text: string): number {
  const [, amount = '', unit] = /^([\d.]{1,12}) ?([a-z]{1,12})?$/i.exec(text) ?? []
  const value = unit === undefined ? Number(amount || Number.NaN) * 1000 : ms(text as StringValue)
  if (Number.isFinite(value)) return Math.min(value, MAX_TIMER_MS)
  throw new CrabError('usage', `Cannot use --${option} ${text}: it is not a duration`, {
    hint: `for example --${option} 30s`,
  })
}

/** The longest delay of a timer in milliseconds: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Parses a whole number of at least `least`. Throws `usage`. */
export function parseCount(option: string, text: string, least = 0): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw new CrabError(
    'usage',
    `Cannot use --${option} ${text}: it must be a whole number, ${least} or more`,
    {
      hint: `for example --${option} ${Math.max(least, 3)}`,
    },
  )
}
