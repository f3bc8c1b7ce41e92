import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

const PAGE = 500

/** All messages of a session, oldest first, fetched page by page. */
export async function* readMessages(
  dispatch: Dispatch,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<SessionMessage> {
  for (let offset = 0; ; ) {
    const { messages, total } = await request(
      dispatch,
      'listMessages',
      { session, offset, limit: PAGE },
      signal,
    )
    yield* messages
    offset += messages.length
    if (offset >= total || messages.length === 0) return
  }
}

/** A message as the json and jsonl forms have it. */
export function toJsonMessage(message: SessionMessage) {
  const { seq, ts, role, content } = message
  return {
    seq,
    ts,
    role,
    content,
    ...(message.agent && { agent: message.agent }),
    ...(message.reasoning.length > 0 && { reasoning: message.reasoning }),
    ...(message.toolCalls.length > 0 && { tool_calls: message.toolCalls.map(toJsonCall) }),
    ...(message.toolCallId && {
      tool_call_id: message.toolCallId,
      name: message.name,
      is_error: message.isError,
    }),
    ...(message.stopReason && { stop_reason: message.stopReason }),
    ...(message.attachments.length > 0 && { attachments: message.attachments.map(toJsonAttachment) }),
  }
}

function toJsonCall({ callId, name, arguments: text }: { callId: string; name: string; arguments: string }) {
  return { id: callId, name, arguments: text }
}

function toJsonAttachment({ mediaType, name, bytes }: { mediaType: string; name: string; bytes: number }) {
  return { media_type: mediaType, name, bytes }
}
