import type { Message } from '../base/message.ts'

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
  const merged: Message = { role: 'user', content: `${last.content}\n\n${message.content}` }
  messages[messages.length - 1] = attachments.length > 0 ? { ...merged, attachments } : merged
}

function pushAssistant(messages: Message[], message: Message, results: ReadonlyMap<string, Message>): void {
  const calls = message.tool_calls ?? []
  if (message.content === '' && calls.length === 0) return // nothing said: providers refuse an empty message
  messages.push(message.agent ? { ...message, content: tagged(message.agent, message.content) } : message)
  for (const call of calls) messages.push(results.get(call.id) ?? interrupted(call.id, call.name))
}

function resultsBehind(history: readonly Message[], at: number): Map<string, Message> {
  const results = new Map<string, Message>()
  for (let i = at + 1; history[i]?.role === 'tool'; i++) {
    const result = history[i]!
    if (result.tool_call_id !== undefined && !results.has(result.tool_call_id))
      results.set(result.tool_call_id, result)
  }
  return results
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
  return `<from agent="${agent}">\n${content}\n</from>`
}
