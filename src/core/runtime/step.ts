import type { Message, Reasoning, ToolCall, Usage } from '../base/message.ts'
import type { FinishReason, ModelEvent } from '../provider/types.ts'
import type { AgentEvent } from './events.ts'

/** What one model call has said so far; complete once `finish` is set. */
export interface Draft {
  content: string
  reasoning: Reasoning[]
  calls: ToolCall[]
  finish: FinishReason | undefined
  usage: Usage | undefined
}

export function emptyDraft(): Draft {
  return { content: '', reasoning: [], calls: [], finish: undefined, usage: undefined }
}

/** The draft as an assistant message; `guest` names who spoke when it is not the conversation's own agent. */
export function toAssistantMessage(draft: Draft, guest: string | undefined): Message {
  const message: Message = { role: 'assistant', content: draft.content }
  if (draft.reasoning.length > 0) message.reasoning = draft.reasoning
  if (draft.calls.length > 0) message.tool_calls = draft.calls
  if (guest !== undefined) message.agent = guest
  return message
}

type Block = 'text' | 'thinking'

/** Follows one model call into `draft`, and tells what happens with text and thinking in open and close pairs. */
export async function* followStep(
  events: AsyncIterable<ModelEvent>,
  agent: string,
  draft: Draft,
): AsyncGenerator<AgentEvent> {
  let open: Block | undefined
  for await (const event of events) {
    const block = blockOf(event)
    if (open !== undefined && open !== block) yield { type: `${open}-end`, agent }
    if (block !== undefined && open !== block) {
      yield { type: `${block}-start`, agent }
      if (block === 'thinking') draft.reasoning.push({ text: '' })
    }
    open = block
    const told = take(event, draft)
    if (told) yield told
  }
  if (open !== undefined) yield { type: `${open}-end`, agent }
}

function blockOf(event: ModelEvent): Block | undefined {
  return event.type === 'text' || event.type === 'thinking' ? event.type : undefined
}

function take(event: ModelEvent, draft: Draft): AgentEvent | undefined {
  switch (event.type) {
    case 'text':
      draft.content += event.delta
      return event
    case 'thinking':
      draft.reasoning.at(-1)!.text += event.delta
      return event
    case 'thinking-end':
      closeReasoning(draft, event.meta)
      return undefined
    case 'tool-call':
      draft.calls.push(event.call)
      return undefined
    case 'finish':
      draft.finish = event.reason
      draft.usage = event.usage
      return undefined
    default:
      return event
  }
}

/** A block may end without a word of it having been shown (redacted thinking); its meta must still travel back. */
function closeReasoning(draft: Draft, meta: Reasoning['meta']): void {
  if (!meta) return
  const last = draft.reasoning.at(-1)
  if (last && !last.meta) last.meta = meta
  else draft.reasoning.push({ text: '', meta })
}
