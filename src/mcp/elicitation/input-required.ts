import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import type { InFlightCall } from './calls-in-flight.ts'
import type { ElicitAnswer } from './types.ts'

/** Sends the request with these parameters added, and returns the server's result. */
export type SendRequest = (more: JsonObject) => Promise<unknown>

/**
 * Sends a request and answers the server's questions (MCP 2026-07-28, multi round-trip requests) until it
 * returns a result. Throws `tool` when it asks for something that was not offered, or too often.
 */
export async function resolveInputs(
  send: SendRequest,
  call: InFlightCall,
  signal: AbortSignal,
): Promise<unknown> {
  let more: JsonObject = {}
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await send(more)
    if (!isObject(result) || result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState } = result
    const requests = isObject(inputRequests) ? Object.entries(inputRequests) : []
    if (requests.length === 0) await sleep(POLL_DELAY_MS, undefined, { signal })
    const inputResponses: Record<string, ElicitAnswer> = {}
    for (const [key, request] of requests) inputResponses[key] = await call.answer(getParams(request), signal)
    more = {
      ...(requests.length > 0 && { inputResponses }),
      ...(typeof requestState === 'string' && { requestState }),
    }
  }
  throw new CrabError('tool', `it asked for more input ${MAX_ROUNDS} times`)
}

function getParams(request: unknown): JsonObject {
  const { method, params } = isObject(request) ? request : {}
  if (method === 'elicitation/create' && isObject(params)) return params
  throw new CrabError(
    'tool',
    `it asks for something that was not offered: ${toPrintableLine(String(method))}`,
  )
}

const MAX_ROUNDS = 10
/** The delay before a request is repeated for a server that asked no question. */
const POLL_DELAY_MS = 250
