import { toCancelledError } from '../base/abortable.ts'
import { CrabError, type ErrorKind, toCrabError } from '../base/errors.ts'
import type { ModelEndpoint } from './endpoint.ts'
import type { StreamFault } from './event-frames.ts'
import { hintFor } from './model-hints.ts'
import { type ErrorResponse, readRetryAfter } from './retry-after.ts'

/** The model and endpoint of a call. */
export interface CallTarget {
  endpoint: ModelEndpoint
  model: string
}

/**
 * Converts the error of a failed call to a CrabError, whatever threw it: an abort, the network (already a
 * CrabError), the SDK, or an error record in the stream. The kinds are those of `ModelEvent`.
 */
export function toModelError(reason: unknown, target: CallTarget, signal: AbortSignal): CrabError {
  if (signal.aborted) return toCancelledError(signal)
  const known = causes(reason).find((cause) => cause instanceof CrabError)
  if (known) return known
  const status = numberIn(reason, 'statusCode')
  if (status !== undefined) {
    return toResponseError({ status, headers: headersIn(reason), body: bodyIn(reason) }, target)
  }
  if (!(reason instanceof Error)) return toRecordError(reason, target)
  const broken = reason.name === 'AI_InvalidResponseDataError' && reason.message.includes('without a finish')
  if (broken) return toBrokenStreamError(target)
  if (!reason.name.startsWith('AI_')) return toCrabError(reason)
  return failure(reason.name === UNSUPPORTED ? 'invalid' : 'failed', target, {
    message: reason.message,
    cause: reason,
  })
}

/**
 * Returns the error for an answer that broke off before its end, so that no part of it is taken for the
 * whole. `reason` is the server's own term for it, such as Google's MALFORMED_FUNCTION_CALL.
 */
export function toBrokenStreamError(target: CallTarget, reason?: string): CrabError {
  const why = reason === undefined ? '' : `: ${reason}`
  return failure('unavailable', target, { message: `the answer ended early${why}` })
}

/**
 * Returns the error for a successful answer that is not an event stream: a web page, or JSON, which may
 * contain the reason.
 */
export function toNoStreamError(type: string, body: string, target: CallTarget): CrabError {
  if (type.includes('html')) return failure('config', target, { message: 'it answered with a web page' })
  return failure('failed', target, { message: `it answered without a stream: ${serverMessage(body)}` })
}

/** Converts an HTTP error answer to a CrabError that quotes the server in one line and says where to look. */
export function toResponseError(response: ErrorResponse, target: CallTarget): CrabError {
  const { status, headers, body } = response
  const message = headers['location'] ? `it redirects to ${headers['location']}` : serverMessage(body)
  const retryAfterMs = readRetryAfter(response)
  return failure(classifyStatus(status, body), target, {
    message: message || (PHRASES[status] ?? 'no reason given'),
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

/** Converts an error record inside a stream: `{message, type, code}` in any of the dialects. */
function toRecordError(record: unknown, target: CallTarget): CrabError {
  const code = numberIn(record, 'code')
  const names = `${textIn(record, 'type')} ${textIn(record, 'code')}`
  const [, named = 500] = RECORDS.find(([words]) => words.test(names)) ?? []
  const isLimit = /rate.?limit/i.test(`${names} ${textIn(record, 'message')}`)
  const status = code !== undefined && code >= 400 ? code : isLimit ? 429 : named
  return toResponseError({ status, headers: {}, body: JSON.stringify(record) ?? '' }, target)
}

/** Converts a fault in an AWS event stream; its name determines the equivalent HTTP status. */
export function toFaultError({ name, isException, body }: StreamFault, target: CallTarget): CrabError {
  const [, known] = FAULTS.find(([names]) => names.test(name)) ?? []
  const status = known ?? (isException ? 400 : 500)
  const text = serverMessage(body) === '' ? name : body
  return toResponseError({ status, headers: {}, body: text }, target)
}

interface Reason {
  message: string
  status?: number
  retryAfterMs?: number
  cause?: unknown
}

function failure(kind: ErrorKind, target: CallTarget, reason: Reason): CrabError {
  const { endpoint, model } = target
  const { message, status, ...more } = reason
  const why = `${toLine(message, listSecrets(endpoint))}${status === undefined ? '' : ` (${status})`}`
  const hint = hintFor(kind, target, reason)
  return new CrabError(kind, `Cannot call ${model} (${endpoint.name}): ${why}`, {
    ...(hint !== undefined && { hint }),
    isPrivate: true,
    ...more,
  })
}

function classifyStatus(status: number, body: string): ErrorKind {
  if (WRONG_REGION.test(body)) return 'config'
  if (status === 401 || status === 402 || status === 403) return 'credentials'
  if (status >= 500 || status === 424) return 'unavailable' // Bedrock's status for a model that failed
  if (NO_CREDIT.test(body)) return 'credentials'
  if (status === 429) return 'throttled'
  if (status === 408) return 'timeout'
  if (status === 409) return 'unavailable' // another request holds a lock
  if (status === 404 || status < 400) return 'config'
  if (BAD_KEY.test(body)) return 'credentials'
  return NO_MODEL.test(body) ? 'config' : 'invalid'
}

/**
 * Extracts the server's message from an error body: JSON in any of the usual formats, or plain text; never a
 * web page.
 */
function serverMessage(body: string): string {
  const text = body.trim()
  if (text.startsWith('<')) return ''
  try {
    return messageIn(JSON.parse(text)) ?? text
  } catch {
    return text // not JSON, so the text itself is the message
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return messageIn(value[0])
  if (typeof value !== 'object' || value === null) return undefined
  const { response, error, message, detail, msg } = value as Record<string, unknown>
  const found = messageIn(response) ?? messageIn(error) ?? messageIn(message)
  return found ?? messageIn(detail) ?? messageIn(msg)
}

function listSecrets({ apiKey, aws }: ModelEndpoint): string[] {
  const { secretAccessKey, sessionToken } = aws?.credentials ?? {}
  return [apiKey, secretAccessKey, sessionToken].flatMap((secret) =>
    secret === undefined ? [] : [secret, encodeURIComponent(secret)],
  )
}

/** Returns the text as one printable line without secrets. */
function toLine(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter(({ length }) => length >= MIN_SECRET)
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
  const shown = known.replace(KEY_LIKE, '[secret]')
  const line = shown.replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
}

function causes(reason: unknown): unknown[] {
  const chain: unknown[] = []
  for (
    let at = reason;
    at !== undefined && !chain.includes(at);
    at = at instanceof Error ? at.cause : undefined
  ) {
    chain.push(at)
  }
  return chain
}

function numberIn(value: unknown, key: string): number | undefined {
  const found = getField(value, key)
  return typeof found === 'number' ? found : undefined
}

function textIn(value: unknown, key: string): string {
  const found = getField(value, key)
  return typeof found === 'string' ? found : ''
}

function headersIn(reason: unknown): Record<string, string> {
  return (getField(reason, 'responseHeaders') ?? {}) as Record<string, string>
}

function bodyIn(reason: unknown): string {
  return textIn(reason, 'responseBody') || textIn(reason, 'message')
}

function getField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

const UNSUPPORTED = 'AI_UnsupportedFunctionalityError'
const MAX_LINE = 300
const MIN_SECRET = 8
/** Patterns of keys, because servers often quote a part of the key they reject. */
const KEY_LIKE = /\b(sk|pk|rk|gsk|xai)[-_*][\w*.-]{6,}|\bAIza[\w*-]{10,}/g
const NO_CREDIT = /insufficient[_ ](quota|balance|credits?|funds)|credit balance|billing_(error|hard_limit)/i
const BAD_KEY =
  /api[_ -]?key.{0,30}(invalid|not valid|incorrect|expired)|(invalid|incorrect)[_ ]api[_ -]?key/i
const NO_MODEL =
  /model.{0,80}(not[_ ]found|not exist|not a valid|decommissioned|identifier is invalid)|(unknown|invalid) model|not a valid model|on-demand throughput/i
const WRONG_REGION = /credential should be scoped to a valid region/i

/** The statuses that the types and codes of error records stand for. */
const RECORDS: readonly (readonly [RegExp, number])[] = [
  [/overloaded/i, 529],
  [/insufficient_quota/i, 429],
  [/authentication/i, 401],
  [/permission/i, 403],
  [/too_large/i, 413],
  [/not_found_error/i, 404],
  [/invalid_request|invalid_prompt|context_length|policy_violation/i, 400],
]

const FAULTS: readonly (readonly [RegExp, number])[] = [
  [/throttl|toomany|quota|notready/i, 429],
  [/accessdenied|unauthorized|notauthorized|unrecognizedclient|token|signature|credential/i, 403],
  [/notfound/i, 404],
  [/timeout/i, 408],
  [/modelstreamerror|modelerror/i, 424],
  [/internal/i, 500],
  [/unavailable/i, 503],
]

const PHRASES: Record<number, string> = {
  401: 'the server wants a valid key',
  402: 'the account has no credit',
  403: 'the key may not use this model',
  404: 'the server does not know that model or path',
  413: 'the request is too large',
  429: 'too many requests',
  529: 'the server is overloaded',
}
