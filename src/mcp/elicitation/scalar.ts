import type { JsonObject } from '../../core/base/message.ts'
import type { FieldResult } from './types.ts'

/**
 * Creates the reader of a text field, which checks its length and format. A `pattern` is left to the server.
 */
export function textReader({ minLength, maxLength, format }: JsonObject) {
  const least = toFiniteNumber(minLength) ?? 0
  const most = Math.min(toFiniteNumber(maxLength) ?? MAX_CHARS, MAX_CHARS)
  const known = typeof format === 'string' ? FORMATS.get(format) : undefined
  return {
    takes: [known?.takes, lengthNote(least, most)].filter(Boolean).join(', '),
    read(answer: string): FieldResult {
      const { length } = [...answer]
      if (length < least) return { problem: `it takes at least ${least} characters` }
      if (length > most) return { problem: `it takes at most ${most} characters` }
      if (known && !known.fits(answer)) return { problem: `it takes ${known.takes}` }
      return { value: answer }
    },
  }
}

/** Creates the reader of a number field, which checks its bounds. */
export function numberReader({ type, minimum, maximum }: JsonObject) {
  const [least, most] = [toFiniteNumber(minimum), toFiniteNumber(maximum)]
  const what = type === 'integer' ? 'a whole number' : 'a number'
  const takes = `${what}${least === undefined ? '' : ` from ${least}`}${most === undefined ? '' : ` up to ${most}`}`
  return {
    takes,
    read(answer: string): FieldResult {
      const value = NUMBER.test(answer.trim()) ? Number(answer) : Number.NaN
      const isOne = Number.isFinite(value) && (type !== 'integer' || Number.isSafeInteger(value))
      const fits = isOne && value >= (least ?? value) && value <= (most ?? value)
      return fits ? { value } : { problem: `it takes ${takes}` }
    },
  }
}

/** The formats that are checked; any other is plain text. */
const FORMATS: ReadonlyMap<string, { takes: string; fits(text: string): boolean }> = new Map([
  ['email', { takes: 'an e-mail address', fits: (text: string) => /^[^\s@]+@[^\s@]+$/.test(text) }],
  [
    'uri',
    { takes: 'an address such as https://…', fits: (text: string) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) },
  ],
  ['date', { takes: 'a date such as 2026-01-31', fits: (text: string) => isDay(text) }],
  [
    'date-time',
    {
      takes: 'a date and time such as 2026-01-31T09:30:00Z',
      fits: (text: string) => isDay(text.slice(0, 10)) && TIME.test(text.slice(10)),
    },
  ],
])

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const TIME = /^[Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/

function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

function lengthNote(least: number, most: number): string {
  if (least === 0 && most === MAX_CHARS) return ''
  if (least === 0) return `at most ${most} characters`
  return most === MAX_CHARS ? `at least ${least} characters` : `${least} to ${most} characters`
}

function toFiniteNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

const MAX_CHARS = 20_000
