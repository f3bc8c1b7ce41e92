import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { validateHeader } from './header-rules.ts'

/** The headers a helper returned, and when they expire. */
export interface HelperCredentials {
  headers: Readonly<Record<string, string>>
  /** Milliseconds since 1970; undefined when they do not expire. */
  expiresAt: number | undefined
}

/**
 * Parses the standard output of an auth helper: `{"headers": {…}}` or `{"token": "…"}`, with `expires_at`
 * (RFC 3339, or seconds since 1970) or `expires_in` (seconds); an object of headers; lines of `Name: value`;
 * or a bare token.
 *
 * Throws `failed`, saying in lower case what is wrong without quoting the output.
 */
export function readHelperAnswer(output: string, now: number): HelperCredentials {
  const text = output.trim()
  if (text === '') throw toHelperError('it printed nothing')
  const credentials = text.startsWith('{') ? fromJson(text, now) : fromLines(text)
  if (Object.keys(credentials.headers).length === 0) throw toHelperError('it returned no header')
  for (const [name, value] of Object.entries(credentials.headers)) {
    const issue = validateHeader(name, value)
    if (issue !== undefined) throw toHelperError(issue)
  }
  return credentials
}

/** Returns the values that must not be shown, each also without its scheme. */
export function listHelperSecrets({ headers }: HelperCredentials): string[] {
  const values = Object.values(headers)
  const bare = values.map((value) => value.replace(/^\S+ +(?=\S+$)/, ''))
  return [...values, ...bare].filter(({ length }) => length >= MIN_SECRET)
}

/** Returns the token in the header Authorization, without its scheme; undefined when there is none. */
export function findToken({ headers }: HelperCredentials): string | undefined {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')
  return found?.[1].replace(/^\S+ +(?=\S+$)/, '')
}

function fromJson(text: string, now: number): HelperCredentials {
  const answer = parseObject(text)
  if (!answer) throw toHelperError('it printed JSON that cannot be read')
  const expiresAt = readExpiry(answer, now)
  const { headers, token } = answer
  if (headers !== undefined) return { headers: toHeaders(headers), expiresAt }
  if (token === undefined) return { headers: toHeaders(answer), expiresAt: undefined }
  if (typeof token !== 'string') throw toHelperError('its "token" is not a string')
  return { headers: { Authorization: bearer(token) }, expiresAt }
}

function toHeaders(value: unknown): Record<string, string> {
  if (!isObject(value)) throw toHelperError('its "headers" are not an object')
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (typeof one !== 'string') throw toHelperError(`its header ${JSON.stringify(name)} is not a string`)
      return [name, one.trim()]
    }),
  )
}

function readExpiry({ expires_at: at, expires_in: within }: JsonObject, now: number): number | undefined {
  if (within !== undefined && within !== null) {
    if (typeof within !== 'number') throw toHelperError('its "expires_in" is not a number of seconds')
    return now + within * 1000
  }
  if (at === undefined || at === null) return undefined
  const time = typeof at === 'number' ? at * 1000 : typeof at === 'string' ? Date.parse(at) : Number.NaN
  if (Number.isNaN(time)) throw toHelperError('its "expires_at" is not a time')
  return time
}

function fromLines(text: string): HelperCredentials {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const [first = ''] = lines
  if (!HEADER.test(first)) {
    if (lines.length > 1) throw toHelperError('it printed several lines that are not headers')
    if (/\s/.test(first) && !SCHEME.test(first))
      throw toHelperError('it printed several words that are not a header')
    return { headers: { Authorization: bearer(first) }, expiresAt: undefined }
  }
  const pairs = lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', value = ''] = HEADER.exec(line) ?? []
      if (name === '') throw toHelperError('it printed a line that is not a header')
      return [name, value] as const
    })
  return { headers: Object.fromEntries(pairs), expiresAt: undefined }
}

/** Returns the value of `Authorization`; a token that names its scheme stays as it is. */
export function bearer(token: string): string {
  const bare = token.trim()
  return SCHEME.test(bare) ? bare : `Bearer ${bare}`
}

function toHelperError(why: string): CrabError {
  return new CrabError('failed', why)
}

/** A line `Name: value`. The space after the colon tells it from a token that contains a colon. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]+(\S.*)$/
const MIN_SECRET = 4
const SCHEME = /^(Bearer|Basic|Token|Digest|DPoP) +\S+/i
