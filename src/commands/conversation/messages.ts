import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'

/** Converts a message to its form in the json and jsonl formats. */
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
    ...(message.dropped && { dropped: true }),
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
