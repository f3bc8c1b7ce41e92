import { toCancelled } from '../../core/base/cancelled.ts'
import { type Channel, trustOf } from '../../core/policy/trust.ts'
import type { SendMsg, SendResponse, StreamEvent, StreamMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { Services } from '../compose.ts'
import { toTokenUsage, toWireEvent } from './stream-events.ts'
import { toTurnRequest } from './turn-message.ts'

/** One node's services, and the way a message came to them. */
export interface Served {
  services: Services
  channel: Channel
}

/** `stream`: one turn, event by event. */
export async function* stream(
  { services, channel }: Served,
  message: StreamMsg,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const runtime = await services.runtime(signal)
  const request = { ...toRequest(message, channel), returnsSteers: true }
  for await (const event of runtime.turn(request, signal)) {
    yield { seq: 0, event: toWireEvent(event) }
  }
}

/** `send`: one turn, its whole answer at the end; of a schema only what meets it. Throws what the turn failed with. */
export async function send(
  { services, channel }: Served,
  message: SendMsg,
  signal: AbortSignal,
): Promise<SendResponse> {
  const runtime = await services.runtime(signal)
  const texts: string[] = []
  let begun = { runId: '', sessionId: '' }
  for await (const event of runtime.turn(toRequest(message, channel), signal)) {
    if (event.type === 'start') begun = { runId: event.runId, sessionId: event.sessionId }
    if (event.type === 'text-start') texts.push('')
    if (event.type === 'text') texts.push((texts.pop() ?? '') + event.delta)
    if (event.type !== 'end') continue
    if (event.error) throw event.error
    const { agent, model, usage, turns, stopReason } = event
    return {
      ...begun,
      agent,
      model,
      turns,
      stopReason,
      content: message.options?.schema ? (texts.at(-1) ?? '') : texts.join('\n\n'),
      usage: usage && toTokenUsage(usage),
    }
  }
  throw toCancelled(signal)
}

function toRequest(message: StreamMsg, channel: Channel) {
  return toTurnRequest(message, trustOf(channel, message.sender ?? ''))
}
