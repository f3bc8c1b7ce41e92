import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import { describeResponse, type PlainResponse } from './describe-response.ts'

/** Returns the HTTP response behind an error of the SDK; undefined when there is none. */
export function getPlainResponse(reason: unknown): PlainResponse | undefined {
  const { data } = (reason ?? {}) as { data?: unknown }
  if (!isObject(data) || typeof data['status'] !== 'number') return undefined
  const { status, statusText, text } = data
  return {
    status,
    statusText: typeof statusText === 'string' ? statusText : '',
    body: typeof text === 'string' ? text : '',
  }
}

/** Returns the JSON-RPC error in a response, if it belongs to this request. */
export function findErrorReply({ body }: PlainResponse, message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!('id' in message) || !('method' in message)) return undefined
  const answer = parseObject(body)
  const isRefusal = answer?.['jsonrpc'] === '2.0' && isObject(answer['error']) && answer['id'] === message.id
  return isRefusal ? (answer as unknown as JSONRPCMessage) : undefined
}

/** Whether the server no longer knows the session. Many answer 400 instead of 404. */
export function isLostSession({ status, body }: PlainResponse): boolean {
  return status === 404 || (status === 400 && /session/i.test(body))
}

/** Converts the failure of a sent message to an error that says in lower case what happened. */
export function toFailedSend(reason: unknown, address: string): unknown {
  if (reason instanceof CrabError || !(reason instanceof Error) || reason.name === 'AbortError') return reason
  const answer = getPlainResponse(reason)
  if (answer) return toRefused(reason, answer, address)
  const { data } = reason as { data?: unknown }
  const contentType = isObject(data) ? data['contentType'] : undefined
  if (contentType !== undefined) {
    const what =
      typeof contentType === 'string' ? contentType.split(';')[0] : 'a response without a content type'
    return new CrabError('failed', `it does not speak MCP at ${address}: it answered with ${what}`)
  }
  if (isBrokenJson(reason) || isSchemaError(reason)) return toMalformedAnswer(reason, address)
  return reason
}

/**
 * Whether an error is about an event that was meant as the answer: it is not JSON, or has no method. A request's stream
 * holds one answer only, so another one would never arrive.
 */
export function isMalformedAnswer(reason: Error): boolean {
  if (isBrokenJson(reason)) return true
  if (!isSchemaError(reason)) return false
  return listIssues(reason).some(
    ({ path, code }) => path?.[0] === 'method' || (path?.length === 0 && code === 'invalid_type'),
  )
}

/** Describes an answer that cannot be read; without an address it is one event of a stream. */
export function toMalformedAnswer(reason: Error, address?: string): CrabError {
  const where = address === undefined ? '' : ` at ${address}`
  const what = isBrokenJson(reason) ? 'complete JSON' : 'an MCP message'
  return new CrabError('failed', `its answer${where} is not ${what}`)
}

function isBrokenJson({ name }: Error): boolean {
  return name === 'SyntaxError'
}

function isSchemaError({ name }: Error): boolean {
  return name === 'ZodError' || name === '$ZodError'
}

interface SchemaIssue {
  path?: readonly unknown[]
  code?: string
}

/** Returns what each form of a message lacks. */
function listIssues(reason: Error): readonly SchemaIssue[] {
  const { issues = [] } = reason as { issues?: readonly { errors?: readonly (readonly SchemaIssue[])[] }[] }
  return issues.flatMap(({ errors = [] }) => errors.flat())
}

function toRefused(reason: Error, answer: PlainResponse, address: string): CrabError {
  const { status } = answer
  if (status >= 300 && status < 400)
    return new CrabError('failed', describeRedirect(reason, answer), {
      hint: 'if you trust it, use the address it redirects to in its entry',
    })
  const hint = [404, 405].includes(status) ? { hint: 'check the path of its address' } : {}
  return new CrabError('failed', describeResponse(answer, address), hint)
}

/** Removes the names of SDK settings from the message. */
function describeRedirect({ message }: Error, { status }: PlainResponse): string {
  const where = /Redirect (?:from|to).*$/s.exec(message)?.[0].replace(/\s*\(redirectPolicy:[^)]*\)/, '')
  return `it redirects (HTTP ${status})${where === undefined ? '' : `: ${where.trim()}`}`
}
