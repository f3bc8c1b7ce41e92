import type { Attachment, Message } from '../base/message.ts'
import { takeEnd, takeStart } from '../base/truncate.ts'

/**
 * Renders a conversation as text for a model that only reads it: the speakers' words, with tool calls and
 * results shortened.
 */
export function toTranscript(messages: readonly Message[], maxChars: number): string {
  for (const toolChars of TOOL_CHARS) {
    const text = messages
      .map((message) => toParagraph(message, toolChars))
      .filter(Boolean)
      .join('\n\n')
    if (text.length <= maxChars) return text
  }
  return shorten(messages.map((message) => toParagraph(message, 0)).join('\n\n'), maxChars)
}

/** Shortens a text to about `maxChars` characters by leaving out its middle. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = Math.floor(maxChars / 4)
  const tail = maxChars - head
  return `${takeStart(text, head)}\n[… ${text.length - maxChars} characters left out …]\n${takeEnd(text, tail)}`
}

/** The text that stands in for an attachment. */
export function toAttachmentNote({ name, media_type }: Attachment): string {
  return `(attached: ${name || 'a file'}, ${media_type})`
}

/**
 * Limits on the characters of one tool result or its arguments; the first that makes everything fit is used.
 */
const TOOL_CHARS = [4000, 1000, 200]

function toParagraph(message: Message, toolChars: number): string {
  const { role, content, name, agent, is_error: isError, attachments = [], tool_calls: calls = [] } = message
  if (role === 'tool') {
    return `[result of ${name ?? 'a tool'}${isError ? ', failed' : ''}]\n${shorten(content, toolChars)}`
  }
  const who = role === 'user' ? 'user' : agent ? `guest ${agent}` : 'assistant'
  const lines = [
    content.trim(),
    ...attachments.map(toAttachmentNote),
    ...calls.map((call) => `(calls ${call.name} ${shorten(call.arguments, toolChars)})`),
  ].filter(Boolean)
  return lines.length === 0 ? '' : `[${who}]\n${lines.join('\n')}`
}
