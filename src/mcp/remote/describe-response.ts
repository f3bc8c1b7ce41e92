import { isObject } from '../../core/base/json.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'

/** An answer of HTTP that is none of MCP. */
export interface PlainResponse {
  status: number
  statusText: string
  /** As far as it was read. */
  body: string
}

/** What a server answered, with what it says of it: `it answered HTTP 502 (Bad Gateway) at https://…: try later`. */
export function describeResponse({ status, statusText, body }: PlainResponse, address: string): string {
  const name = statusText === '' ? '' : ` (${toPrintableLine(statusText)})`
  const words = describeBody(body)
  return `it answered HTTP ${status}${name} at ${address}${words === '' ? '' : `: ${words}`}`
}

/** What an answer says to people, in one line; of a page nothing but that it is one. */
export function describeBody(body: string): string {
  const text = body.trim()
  if (/^<|<html|<!doctype/i.test(text.slice(0, 300))) return 'a web page'
  return toPrintableLine(fromJson(text) ?? text).slice(0, MAX_WORDS)
}

function fromJson(text: string): string | undefined {
  try {
    return findErrorText(JSON.parse(text))
  } catch {
    return undefined // text of another kind, or cut
  }
}

/** Of JSON-RPC, OAuth (RFC 6750) and RFC 9457. */
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
