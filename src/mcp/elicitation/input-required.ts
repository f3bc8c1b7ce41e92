import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'
import type { InFlightCall } from './calls-in-flight.ts'
import type { ElicitAnswer } from './types.ts'

/** Sends the request with these parameters added, and gives the server's answer. */
export type SendRequest = (more: JsonObject) => Promise<unknown>

/**
 * Sends a request and answers what the server wants to know before it goes on (MCP 2026-07-28, multi round-trip
 * requests), until it gives a result. Fails with `tool` when it asks for what was not offered, or too often.
 */
export async function resolveInputs(
  send: SendRequest,
  call: InFlightCall,
  signal: AbortSignal,
): Promise<unknown> {
  let more: JsonObject = {}
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const result = await send(more)
    if (!isObject(result) || result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState } = result
    const requests = isObject(inputRequests) ? Object.entries(inputRequests) : []
    if (requests.length === 0) await sleep(PACE_MS, undefined, { signal })
    const inputResponses: Record<string, ElicitAnswer> = {}
    for (const [key, request] of requests) inputResponses[key] = await call.answer(getParams(request), signal)
    more = {
      ...(requests.length > 0 && { inputResponses }),
      ...(typeof requestState === 'string' && { requestState }),
    }
  }
  throw new CrabError('tool', `it asked ${MOST_ROUNDS} times for more`)
}

function getParams(request: unknown): JsonObject {
  const { method, params } = isObject(request) ? request : {}
  if (method === 'elicitation/create' && isObject(params)) return params
  throw new CrabError('tool', `it asks for what was not offered: ${toPrintableLine(String(method))}`)
}

const MOST_ROUNDS = 10
/** Before a server that only wants to be asked again is. */
const PACE_MS = 250
