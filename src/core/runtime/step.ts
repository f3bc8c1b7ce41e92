import type { Message, Reasoning, ToolCall, Usage } from '../base/message.ts'
import type { FailedAttempt, FinishReason, ModelEvent } from '../provider/types.ts'
import type { AgentEvent } from './events.ts'

/** The output of one model call so far; complete once `finish` is set. */
export interface Draft {
  content: string
  reasoning: Reasoning[]
  calls: ToolCall[]
  finish: FinishReason | undefined
  usage: Usage | undefined
}

/** Returns the draft of a model call that has produced nothing yet. */
export function emptyDraft(): Draft {
  return { content: '', reasoning: [], calls: [], finish: undefined, usage: undefined }
}

/**
 * Turns a draft into an assistant message; `guest` is the speaker's name when it is not the conversation's
 * own agent.
 */
export function toAssistantMessage(draft: Draft, guest: string | undefined): Message {
  const message: Message = { role: 'assistant', content: draft.content }
  if (draft.reasoning.length > 0) message.reasoning = draft.reasoning
  if (draft.calls.length > 0) message.tool_calls = draft.calls
  if (guest !== undefined) message.agent = guest
  return message
}

/** Drops the tool calls of a guest, which has no tools, and returns a notice about them. */
export function rejectCalls(guest: string, draft: Draft): AgentEvent {
  const names = draft.calls.map((call) => call.name).join(', ')
  draft.calls = []
  draft.finish = 'stop'
  return {
    type: 'notice',
    isOwn: true,
    message: `The guest ${guest} tried to call ${names}; guests have no tools`,
  }
}

type Block = 'text' | 'thinking'

/**
 * Collects one model call into `draft`, and yields its text and thinking in matching start and end events,
 * also when the call fails.
 *
 * An answer that broke off stays in the draft until the next attempt answers.
 */
export async function* followStep(
  events: AsyncIterable<ModelEvent>,
  agent: string,
  draft: Draft,
): AsyncGenerator<AgentEvent> {
  let open: Block | undefined
  let texts = 0
  let isVoid = false
  try {
    for await (const event of events) {
      if (event.type === 'retry') {
        yield toRetryEvent(event, texts)
        isVoid ||= event.discards === true
        texts = 0
      } else if (event.type !== 'notice' && isVoid) {
        Object.assign(draft, emptyDraft())
        isVoid = false
      }
      const block = toBlockType(event)
      if (open !== undefined && open !== block) yield { type: `${open}-end`, agent }
      if (block !== undefined && open !== block) {
        yield { type: `${block}-start`, agent }
        if (block === 'thinking') draft.reasoning.push({ text: '' })
        else texts++
      }
      const emitted = take(event, draft, open)
      open = block
      if (emitted) yield emitted
    }
  } catch (reason) {
    if (open !== undefined) yield { type: `${open}-end`, agent }
    throw reason
  }
  if (open !== undefined) yield { type: `${open}-end`, agent }
}

/** Comes before the end of an open text, so that its reader knows what the end means. */
function toRetryEvent({ discards, ...attempt }: FailedAttempt, texts: number): AgentEvent {
  return { ...attempt, ...(discards && { discardedTexts: texts }) }
}

function toBlockType(event: ModelEvent): Block | undefined {
  return event.type === 'text' || event.type === 'thinking' ? event.type : undefined
}

/** Adds an event to the draft; `open` is the block of the event before it. */
function take(event: ModelEvent, draft: Draft, open: Block | undefined): AgentEvent | undefined {
  switch (event.type) {
    case 'text':
      draft.content += event.delta
      return event
    case 'thinking':
      draft.reasoning.at(-1)!.text += event.delta
      return event
    case 'thinking-end':
      closeReasoning(draft, event.meta, open)
      return undefined
    case 'tool-call':
      draft.calls.push(event.call)
      return undefined
    case 'finish':
      draft.finish = event.reason
      draft.usage = event.usage
      return undefined
    case 'retry':
      return undefined
    default:
      return event
  }
}

/**
 * Stores the metadata of a reasoning block. A block may end without any visible text (redacted thinking); its
 * metadata must still be sent back to the provider.
 */
function closeReasoning(draft: Draft, meta: Reasoning['meta'], open: Block | undefined): void {
  if (!meta) return
  if (open === 'thinking') draft.reasoning.at(-1)!.meta = meta
  else draft.reasoning.push({ text: '', meta })
}
