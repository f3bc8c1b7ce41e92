import { type Channel, classifyTurn } from '../../core/policy/trust.ts'
import {
  type SendMsg,
  SendResponse,
  type StreamEvent,
  type StreamMsg,
} from '../../core/protocol/crabtalk.generated.ts'
import type { TurnRequest } from '../../core/runtime/turn-request.ts'
import type { RequestContext } from './request-context.ts'
import { toTokenUsage, toWireEvent } from './stream-events.ts'
import { toTurnRequest } from './turn-message.ts'

/**
 * Handles `stream`: runs one turn and yields its events; a detached turn continues when its follower leaves.
 */
export async function* stream(
  { services, channel, client }: RequestContext<'live'>,
  message: StreamMsg,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const request = toRequest(message, channel)
  const events = message.detach
    ? (await services.live.detach(request)).follow(signal)
    : services.live.stream(
        client === 'fixed' ? forFixed(request) : { ...request, returnsSteers: () => true },
        signal,
      )
  for await (const { seq, event } of events) yield { seq, event: toWireEvent(event, channel) }
}

/**
 * Adapts a turn to a client that may dismiss a question silently, and cannot be notified of a steer that
 * arrives too late.
 */
function forFixed(request: TurnRequest): TurnRequest {
  return { ...request, settings: { ...request.settings, isAttended: false } }
}

/**
 * Handles `send`: runs one turn and returns its whole answer; with a schema, only the text that conforms to
 * it. A detached turn is answered with its run id as soon as it is accepted. Throws the error that the turn
 * failed with.
 */
export async function handleSend(
  { services, channel }: RequestContext<'live'>,
  message: SendMsg,
  signal: AbortSignal,
): Promise<SendResponse> {
  const request = toRequest(message, channel)
  if (message.detach) {
    const { id } = await services.live.detach(request)
    return SendResponse.create({ agent: request.agent, runId: id })
  }
  const hasSchema = message.options?.schema !== undefined && message.options.schema !== ''
  const { run, end } = await services.live.complete(request, signal)
  if (end.error) throw end.error
  const { agent, model, usage, turns, stopReason, costUsd } = end
  return {
    runId: run.id,
    sessionId: run.start?.sessionId ?? '',
    agent,
    model,
    turns,
    stopReason,
    ...(costUsd !== undefined && { costUsd }),
    content: hasSchema ? run.summary.lastText : run.summary.text,
    usage: usage && toTokenUsage(usage),
  }
}

function toRequest(message: StreamMsg, channel: Channel): TurnRequest {
  const unattended = message.options?.unattended ?? false
  return toTurnRequest(message, classifyTurn(channel, message.sender ?? '', { unattended }))
}
