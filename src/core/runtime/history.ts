import type { Message } from '../base/message.ts'
import { wrapInTag } from '../base/wrap-text.ts'

/**
 * Turns a history into messages that a provider accepts: every tool call is answered exactly once and
 * directly after it, orphaned tool results are dropped, messages of guests are tagged with their name,
 * consecutive user messages are merged.
 *
 * A crash can leave a call without its result (ADR 0060); an error result takes its place, because a provider
 * would refuse the whole request.
 */
export function toRequestMessages(history: readonly Message[]): Message[] {
  const messages: Message[] = []
  for (let at = 0; at < history.length; at++) {
    const message = history[at]!
    if (message.role === 'tool') continue // pushed together with the call it answers
    if (message.role === 'user') pushUser(messages, message)
    else pushAssistant(messages, message, resultsBehind(history, at))
  }
  return messages
}

/** Whether a guest spoke in the history, so that the system prompt must explain the tags. */
export function hasGuests(history: readonly Message[]): boolean {
  return history.some((message) => message.role === 'assistant' && Boolean(message.agent))
}

function pushUser(messages: Message[], message: Message): void {
  const last = messages.at(-1)
  if (last?.role !== 'user') {
    messages.push(message)
    return
  }
  const attachments = [...(last.attachments ?? []), ...(message.attachments ?? [])]
  const content = [last.content, message.content].filter(Boolean).join('\n\n')
  const merged: Message = { role: 'user', content }
  messages[messages.length - 1] = attachments.length > 0 ? { ...merged, attachments } : merged
}

function pushAssistant(messages: Message[], message: Message, results: Message[]): void {
  const calls = message.tool_calls ?? []
  const isSilent = message.content.trim() === '' // providers refuse a blank message
  if (isSilent && calls.length === 0) return
  const content = message.agent ? tagged(message.agent, message.content) : message.content
  messages.push({ ...message, content: isSilent ? '' : content })
  for (const { id, name } of calls) messages.push(takeResult(results, id) ?? interrupted(id, name))
}

function resultsBehind(history: readonly Message[], at: number): Message[] {
  let end = at + 1
  while (history[end]?.role === 'tool') end++
  return history.slice(at + 1, end)
}

/** Removes and returns the first result of that call; some servers give several calls the same id. */
function takeResult(results: Message[], id: string): Message | undefined {
  const index = results.findIndex((result) => result.tool_call_id === id)
  return index < 0 ? undefined : results.splice(index, 1)[0]
}

function interrupted(id: string, name: string): Message {
  return {
    role: 'tool',
    tool_call_id: id,
    name,
    content: 'No result: the turn was interrupted.',
    is_error: true,
  }
}

function tagged(agent: string, content: string): string {
  return wrapInTag('from', { agent }, content)
}
