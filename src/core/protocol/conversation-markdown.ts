import { titleConversation } from '../base/auto-title.ts'
import { pluralize } from '../base/format.ts'
import { listSpeakers } from '../base/sender-class.ts'
import { foldOutput, readTypedMessage } from '../base/typed-message.ts'
import type { SessionInfo, SessionMessage } from './crabtalk.generated.ts'
import { type Dispatch, request } from './dispatch.ts'
import { readMessages } from './read-messages.ts'

/** Renders a whole conversation as Markdown, one message at a time. */
export async function* conversationMarkdown(
  dispatch: Dispatch,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const info = await request(dispatch, 'getSession', { session }, signal)
  yield headMarkdown(info)
  let isDropped = false
  for await (const message of readMessages(dispatch, session, signal)) {
    if (message.dropped !== isDropped) yield message.dropped ? DROPPED_START : DROPPED_END
    isDropped = message.dropped
    yield messageMarkdown(message, info.agent)
  }
  if (isDropped) yield DROPPED_END
}

const DROPPED_START = '\n---\n\n*Went back: the agent no longer sees the messages from here on.*\n'
const DROPPED_END = '\n*The conversation continued here.*\n\n---\n'

function headMarkdown(session: SessionInfo): string {
  const title = titleConversation(session)
  return `# ${title}\n\n${listSpeakers(session).join(' · ')} · ${session.createdAt} · ${pluralize(session.messageCount, 'message')}\n`
}

/** Renders a message as Markdown; tool results become code blocks. */
function messageMarkdown(message: SessionMessage, agent: string): string {
  if (message.role === 'tool') return `\n${toolResult(message)}\n`
  const who = message.role === 'user' ? 'You' : message.agent || agent
  const parts = [
    ...message.attachments.map((file) => `[attached: ${file.name || file.mediaType}, ${file.bytes} bytes]`),
    ...(message.role === 'user' ? toTypedParts(message.content) : [message.content]),
    ...message.toolCalls.map((call) => `\`${call.name}(${call.arguments})\``),
    message.stopReason && `[${message.stopReason}]`,
  ]
  return `\n## ${who}\n\n${parts.filter(Boolean).join('\n\n')}\n`
}

/** Returns the shell lines before a message of the user, each with its folded output, and the message. */
function toTypedParts(content: string): string[] {
  const { shellLines, text } = readTypedMessage(content)
  const printed = shellLines.map(({ line, output }) =>
    toCodeBlock(`! ${line}\n${foldOutput(output)}`.trimEnd()),
  )
  return [...printed, text]
}

function toolResult({ name, isError, content }: SessionMessage): string {
  return `${name}${isError ? ' failed' : ''}:\n\n${toCodeBlock(content)}`
}

function toCodeBlock(text: string): string {
  const fence = fenceFor(text)
  return `${fence}\n${text}\n${fence}`
}

/** Returns a fence longer than any in the text. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  return '`'.repeat(longest + 1)
}
