import type { Message } from '../../core/base/message.ts'
import type {
  ConversationHistory,
  ConversationInfo,
  ConversationList,
  ListConversationsMsg,
  ListMessages,
  MessageList,
  SessionInfo,
  SessionMessage,
} from '../../core/protocol/crabtalk.generated.ts'
import type { EntryReader } from '../../core/runtime/entry-reader.ts'
import { listEntries, listSessions, sessionMeta } from '../../core/runtime/session-pages.ts'
import type { SessionLine, SessionSummary, Storage } from '../../core/storage/types.ts'
import { toCallInfo } from './stream-events.ts'
import { takeFitting } from './take-fitting.ts'

/**
 * `list_conversations`: a page of them, newest first; empty filters match everything. It may be shorter than asked, never
 * empty before the end. One in which nothing was said yet is none.
 *
 * An agent has the name it goes by now, by its id in `agentNames`; one that is gone its last one.
 */
export async function listConversations(
  storage: Pick<Storage, 'listSessions'>,
  filter: ListConversationsMsg & { agentId?: string },
  agentNames: ReadonlyMap<string, string>,
): Promise<ConversationList> {
  const { agentId, sender, cwd, offset, limit } = filter
  const wanted = { ...(agentId && { agentId }), ...(sender && { sender }), ...(cwd && { cwd }) }
  const { sessions, total } = await listSessions(storage, { ...wanted, offset, limit })
  const conversations = takeFitting(sessions, measureSummary).map((summary, index) => {
    const agent = agentNames.get(summary.agentId) ?? summary.agent
    return toConversationInfo(summary, { agent, seq: offset + index + 1 })
  })
  return { conversations, total }
}

/** `get_conversation_history`: what was said, oldest first. */
export async function getConversationHistory(
  storage: Storage,
  session: string,
): Promise<ConversationHistory> {
  const { header, lines } = await storage.read(session)
  const messages = lines.flatMap((line) =>
    line.kind === 'entry' ? [{ role: line.role, content: line.typed ?? line.content }] : [],
  )
  return { messages, title: findLastMeta(lines, 'title'), agent: header.agent }
}

/** `list_messages`: a page of a session's messages, oldest first; it may be shorter than asked, never empty before the end. */
export async function listMessages(reader: EntryReader, asked: ListMessages): Promise<MessageList> {
  const { messages, total } = await listEntries(reader, asked)
  return { messages: takeFitting(messages.map(toSessionMessage), measureMessage, PAGE_CHARS), total }
}

/** A message that alone is longer stands alone. */
const PAGE_CHARS = 2 * 1024 * 1024

/** With all that is of one length. */
function measureSummary({ agent, sender, title, preview, cwd }: SessionSummary): number {
  return 250 + agent.length + sender.length + title.length + preview.length + cwd.length
}

function measureMessage({ content, reasoning, toolCalls }: SessionMessage): number {
  const called = toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)
  return content.length + called + reasoning.reduce((sum, text) => sum + text.length, 0)
}

/** `get_session`: what is known of one session. */
export async function getSession(storage: Storage, session: string): Promise<SessionInfo> {
  const { summary, isActive } = await sessionMeta(storage, session)
  const { archiveCount: _, activeSince: __, forkedFrom = '', ...known } = summary
  return { ...known, forkedFrom, active: isActive }
}

function toConversationInfo(
  summary: SessionSummary,
  { agent, seq }: { agent: string; seq: number },
): ConversationInfo {
  const { agentId, sender, title, id, cwd, createdAt, updatedAt, messageCount, preview } = summary
  const aliveSecs = Math.max(0, Math.round((Date.parse(updatedAt) - Date.parse(createdAt)) / 1000)) || 0
  const date = createdAt.slice(0, 10)
  return {
    agent,
    agentId,
    sender,
    seq,
    title,
    filePath: id,
    messageCount,
    aliveSecs,
    date,
    cwd,
    createdAt,
    updatedAt,
    preview,
  }
}

/** A stored message as clients read it: as it was typed. */
export function toSessionMessage(line: SessionLine & { kind: 'entry' }): SessionMessage {
  return {
    seq: line.seq,
    ts: line.ts,
    role: line.role,
    content: line.typed ?? line.content,
    reasoning: (line.reasoning ?? []).map(({ text }) => text),
    toolCalls: (line.tool_calls ?? []).map(toCallInfo),
    toolCallId: line.tool_call_id ?? '',
    name: line.name ?? '',
    isError: line.is_error ?? false,
    agent: line.agent ?? '',
    stopReason: line.stop_reason ?? '',
    attachments: (line.attachments ?? []).map(toAttachmentInfo),
  }
}

function toAttachmentInfo({ media_type, name, data }: NonNullable<Message['attachments']>[number]) {
  return { mediaType: media_type, name: name ?? '', bytes: Buffer.byteLength(data, 'base64') }
}

/** The value a meta line set last. */
function findLastMeta(lines: readonly SessionLine[], key: 'title' | 'summary'): string {
  for (const line of lines.toReversed()) if (line.kind === 'meta' && line[key] !== undefined) return line[key]
  return ''
}
