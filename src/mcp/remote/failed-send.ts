import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import { describeResponse, type PlainResponse } from './describe-response.ts'

/** The answer of HTTP behind a failure of the SDK; undefined where it has another reason. */
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

/** The refusal in the terms of JSON-RPC that an answer holds, when it is for this request. */
export function findErrorReply({ body }: PlainResponse, message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!('id' in message) || !('method' in message)) return undefined
  const answer = parseObject(body)
  const isRefusal = answer?.['jsonrpc'] === '2.0' && isObject(answer['error']) && answer['id'] === message.id
  return isRefusal ? (answer as unknown as JSONRPCMessage) : undefined
}

/** Whether a server says that it does not know the session any more. Many say 400 where 404 is meant. */
export function isLostSession({ status, body }: PlainResponse): boolean {
  return status === 404 || (status === 400 && /session/i.test(body))
}

/** Why a message did not get through, in lower case. */
export function toFailedSend(reason: unknown, address: string): unknown {
  if (reason instanceof CrabError || !(reason instanceof Error) || reason.name === 'AbortError') return reason
  const answer = getPlainResponse(reason)
  if (answer) return toRefused(reason, answer, address)
  const { data } = reason as { data?: unknown }
  const contentType = isObject(data) ? data['contentType'] : undefined
  if (contentType !== undefined) {
    const what = typeof contentType === 'string' ? contentType.split(';')[0] : 'something without a type'
    return new CrabError('failed', `it does not speak MCP at ${address}: it answered with ${what}`)
  }
  if (reason.name === 'SyntaxError') {
    return new CrabError('failed', `its answer at ${address} is no whole JSON`)
  }
  if (reason.name === 'ZodError' || reason.name === '$ZodError') {
    return new CrabError('failed', `its answer at ${address} is no message of MCP`)
  }
  return reason
}

function toRefused(reason: Error, answer: PlainResponse, address: string): CrabError {
  const { status } = answer
  if (status >= 300 && status < 400)
    return new CrabError('failed', redirected(reason, answer), {
      hint: 'if you trust it, give its entry the address it sends to',
    })
  const hint = [404, 405].includes(status) ? { hint: 'see that the path of its address is right' } : {}
  return new CrabError('failed', describeResponse(answer, address), hint)
}

/** Without the words of the SDK's own settings. */
function redirected({ message }: Error, { status }: PlainResponse): string {
  const where = /Redirect (?:from|to).*$/s.exec(message)?.[0].replace(/\s*\(redirectPolicy:[^)]*\)/, '')
  return `it sends elsewhere (HTTP ${status})${where === undefined ? '' : `: ${where.trim()}`}`
}
