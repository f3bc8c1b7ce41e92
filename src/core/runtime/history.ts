import type { Message } from '../base/message.ts'
import { wrapInTag } from '../base/wrap-text.ts'

/**
 * The history as a provider accepts it: every tool call answered once and right behind it, no orphaned tool
 * result, guests' words tagged with who spoke, consecutive user messages merged (decision 37).
 *
 * A crash can leave a call without its result; the model is told so instead of the request being refused.
 */
export function toRequestMessages(history: readonly Message[]): Message[] {
  const messages: Message[] = []
  for (let at = 0; at < history.length; at++) {
    const message = history[at]!
    if (message.role === 'tool') continue // taken along with the call it answers
    if (message.role === 'user') pushUser(messages, message)
    else pushAssistant(messages, message, resultsBehind(history, at))
  }
  return messages
}

/** Whether a guest spoke in it, so that the agent must be told about the tags. */
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
  const isSilent = message.content.trim() === '' // providers refuse a message of blanks
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

/** The first result of that call, once: some servers give several calls one id. */
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
