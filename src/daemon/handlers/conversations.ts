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
 * Handles `list_conversations`: returns a page, newest first; empty filters match everything. A page may be
 * shorter than requested, but is never empty before the end. Conversations without a message are left out.
 *
 * Agents appear under their current name, found by id in `agentNames`; deleted agents under their last name.
 * With `before`, the objects of the list before are reused where nothing changed; the caller must only read
 * them.
 */
export async function listConversations(
  storage: Pick<Storage, 'listSessions'>,
  filter: ListConversationsMsg & { agentId?: string },
  { agentNames, activity }: { agentNames: ReadonlyMap<string, string>; activity: ConversationActivity },
  before?: ConversationListBefore,
): Promise<ConversationList> {
  const { agentId, sender, cwd, offset, limit } = filter
  const query = { ...(agentId && { agentId }), ...(sender && { sender }), ...(cwd && { cwd }) }
  const { sessions, total } = await listSessions(storage, { ...query, offset, limit })
  const known = before?.list
  const conversations = takeFitting(sessions, measureSummary).map((summary, index) => {
    const agent = agentNames.get(summary.agentId) ?? summary.agent
    const place = { agent, seq: offset + index + 1, ...activity(summary) }
    const info = known?.conversations[index]
    return info && isInfoOf(info, summary, place) ? info : toConversationInfo(summary, place)
  })
  if (!before) return { conversations, total }
  const isSame = total === known?.total && isSameList(conversations, known.conversations)
  before.list = isSame ? known : { conversations, total }
  return before.list
}

/** Holds the list that was returned last, so that an equal one is neither made nor encoded again. */
export interface ConversationListBefore {
  list?: ConversationList
}

/** Returns what happens in a conversation at this moment, as far as this process knows. */
export type ConversationActivity = (
  summary: SessionSummary,
) => Pick<ConversationInfo, 'windows' | 'running' | 'asks'>

/** Handles `get_conversation_history`: returns the messages, oldest first. */
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

/**
 * Handles `list_messages`: returns a page of a session's messages, oldest first. It may be shorter than
 * requested, but is never empty before the end.
 */
export async function listMessages(reader: EntryReader, request: ListMessages): Promise<MessageList> {
  const { messages, total } = await listEntries(reader, request)
  const dropped = await reader.readDropped(request.session)
  const page = messages.map((line) => ({ ...toSessionMessage(line), dropped: dropped.has(line.seq) }))
  return { messages: takeFitting(page, measureMessage, PAGE_CHARS), total }
}

/** The character limit of a page; a longer message gets a page of its own. */
const PAGE_CHARS = 2 * 1024 * 1024

/** Estimates the size of a row, including its fields of constant length. */
function measureSummary({ agent, sender, title, preview, cwd }: SessionSummary): number {
  return 250 + agent.length + sender.length + title.length + preview.length + cwd.length
}

function measureMessage({ content, reasoning, toolCalls }: SessionMessage): number {
  const called = toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)
  return content.length + called + reasoning.reduce((sum, text) => sum + text.length, 0)
}

/** Returns what `get_session` reports about a session. */
export async function getSession(storage: Storage, session: string): Promise<SessionInfo> {
  const { summary, isActive } = await sessionMeta(storage, session)
  const { archiveCount: _, activeSince: __, forkedFrom = '', ...known } = summary
  return { ...known, forkedFrom, active: isActive }
}

/** The facts of a row of a list that are not in the summary. */
type ConversationPlace = Pick<ConversationInfo, 'agent' | 'seq' | 'windows' | 'running' | 'asks'>

/** Whether a row is what `toConversationInfo` would return. */
function isInfoOf(info: ConversationInfo, summary: SessionSummary, place: ConversationPlace): boolean {
  return (
    info.filePath === summary.id &&
    info.updatedAt === summary.updatedAt &&
    info.seq === place.seq &&
    info.agent === place.agent &&
    info.windows === place.windows &&
    info.running === place.running &&
    info.asks === place.asks &&
    info.agentId === summary.agentId &&
    info.sender === summary.sender &&
    info.title === summary.title &&
    info.cwd === summary.cwd &&
    info.createdAt === summary.createdAt &&
    info.messageCount === summary.messageCount &&
    info.preview === summary.preview
  )
}

function isSameList(a: readonly ConversationInfo[], b: readonly ConversationInfo[]): boolean {
  return a.length === b.length && a.every((info, index) => info === b[index])
}

function toConversationInfo(summary: SessionSummary, known: ConversationPlace): ConversationInfo {
  const { agentId, sender, title, id, cwd, createdAt, updatedAt, messageCount, preview } = summary
  const aliveSecs = Math.max(0, Math.round((Date.parse(updatedAt) - Date.parse(createdAt)) / 1000)) || 0
  const date = createdAt.slice(0, 10)
  return {
    ...known,
    agentId,
    sender,
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

/** Converts a stored message to its wire form, with the text as it was typed. */
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
    dropped: false,
  }
}

function toAttachmentInfo({ media_type, name, data }: NonNullable<Message['attachments']>[number]) {
  return { mediaType: media_type, name: name ?? '', bytes: Buffer.byteLength(data, 'base64') }
}

/** Returns the value that a meta line set last. */
function findLastMeta(lines: readonly SessionLine[], key: 'title' | 'summary'): string {
  for (const line of lines.toReversed()) if (line.kind === 'meta' && line[key] !== undefined) return line[key]
  return ''
}
