import { isObject } from '../../core/base/json.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/** An HTTP response that is not an MCP message. */
export interface PlainResponse {
  status: number
  statusText: string
  /** The beginning of the body, as far as it was read. */
  body: string
}

/**
 * Describes a response with the server's own explanation: `it answered HTTP 502 (Bad Gateway) at https://…:
 * try later`.
 */
export function describeResponse({ status, statusText, body }: PlainResponse, address: string): string {
  const name = statusText === '' ? '' : ` (${toPrintableLine(statusText)})`
  const words = describeBody(body)
  return `it answered HTTP ${status}${name} at ${address}${words === '' ? '' : `: ${words}`}`
}

/**
 * Describes what a challenge (RFC 6750, section 3) says that the body may not: the scopes that are missing, and the
 * server's explanation. Empty without them.
 */
export function describeChallenge(challenge: string | null): string {
  const scope = readParameter(challenge, 'scope')
  const why = readParameter(challenge, 'error_description')
  return [why, scope && `it needs the scopes ${scope}`]
    .filter(Boolean)
    .map((one) => `; ${one}`)
    .join('')
}

function readParameter(challenge: string | null, name: string): string {
  const [, value = ''] = new RegExp(`[ ,]${name}="([^"]*)"`, 'i').exec(challenge ?? '') ?? []
  return toPrintableLine(value).slice(0, MAX_WORDS)
}

/** Extracts the readable message of a body as one line; an HTML page is reduced to "a web page". */
export function describeBody(body: string): string {
  const text = body.trim()
  if (/^<|<html|<!doctype/i.test(text.slice(0, 300))) return 'a web page'
  return toPrintableLine(fromJson(text) ?? text).slice(0, MAX_WORDS)
}

function fromJson(text: string): string | undefined {
  try {
    return findErrorText(JSON.parse(text))
  } catch {
    return undefined // not JSON, or truncated
  }
}

/** Finds the error text of JSON-RPC, OAuth (RFC 6750) or a problem document (RFC 9457). */
function findErrorText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!isObject(value)) return undefined
  for (const key of ['error', 'message', 'error_description', 'detail', 'title']) {
    const words = findErrorText(value[key])
    if (words !== undefined) return words
  }
  return undefined
}

const MAX_WORDS = 200
