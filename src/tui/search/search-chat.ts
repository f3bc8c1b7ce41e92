import { shownTitle } from '../../core/base/auto-title.ts'
import { pluralize } from '../../core/base/format.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import {
  type ConversationInfo,
  type MemoryEntry,
  type MemoryHit,
  MemoryKind,
  type SessionHit,
  type SessionInfo,
  type WindowItem,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { toPieces, toRanges } from './pieces.ts'
import type { ChatSearchScope, SearchExcerpt, SearchResult, SearchResults } from './types.ts'

/** The context of a search: the current agent, conversation, and directory. */
export interface Searcher {
  dispatch: Dispatch
  /** The agent whose memory is searched. */
  agent: string
  sender: string
  /** The open conversation. */
  session: string | undefined
  cwd: string
  /** Milliseconds since 1970. */
  now: number
}

/** The maximum number of conversations or memory entries that are listed for an empty query. */
const MAX_LISTED = 100
/** The number of messages shown after a match. */
const CONTEXT = 1

/**
 * Searches all conversations, or the agent's memory. An empty query returns the latest conversations, or all
 * entries. Rejects with the error that the request reports.
 */
export async function searchChat(
  { scope, query }: { scope: Exclude<ChatSearchScope, 'prompts'>; query: string },
  searcher: Searcher,
  signal: AbortSignal,
): Promise<SearchResults> {
  const text = query.trim()
  const found =
    scope === 'memory'
      ? await findEntries(text, searcher, signal)
      : await findConversations(text, searcher, signal)
  return { scope, query, ...found }
}

type Answer = Omit<SearchResults, 'scope' | 'query'>

async function findConversations(query: string, searcher: Searcher, signal: AbortSignal): Promise<Answer> {
  const { dispatch } = searcher
  if (query === '') {
    const { conversations } = await request(dispatch, 'listConversations', { limit: MAX_LISTED }, signal)
    const items = conversations.slice(0, MAX_LISTED).map((info) => toListed(info, searcher))
    return { items, note: '' }
  }
  const message = { query, contextBefore: 0, contextAfter: CONTEXT }
  const { hits, partial } = await request(dispatch, 'searchSessions', message, signal)
  const items = hits.flatMap((hit) => (hit.session ? [toSearchResult(hit, hit.session, searcher)] : []))
  const note = partial ? 'Older conversations are still being read: there may be more' : ''
  return { items, note, isPartial: partial }
}

async function findEntries(query: string, searcher: Searcher, signal: AbortSignal): Promise<Answer> {
  const { dispatch, agent } = searcher
  if (query !== '') {
    const { hits } = await request(dispatch, 'searchMemory', { agent, query }, signal)
    const items = hits.flatMap(({ entry, matches }) => (entry ? [toEntry({ entry, matches }, searcher)] : []))
    return { items, note: '' }
  }
  const { entries, total } = await request(dispatch, 'listMemory', { agent, limit: MAX_LISTED }, signal)
  const left = total - entries.length
  return {
    items: entries.map((entry) => toEntry({ entry, matches: [] }, searcher)),
    note: left > 0 ? `${left} more: type words to find them` : '',
  }
}

/** Shows a matched title as the title, with the matched messages below it. */
function toSearchResult({ seq, window }: SessionHit, session: SessionInfo, searcher: Searcher): SearchResult {
  const titled = window.find(({ role }) => role === 'title')
  const messages = window.filter(({ role }) => role !== 'title')
  const at = messages.findIndex((item) => item.seq === seq)
  const [match, ...others] = messages.slice(Math.max(0, at))
  const shown = match ? [match, ...others.slice(0, CONTEXT)] : []
  const title = titled?.snippet || session.title || session.preview || 'without a title'
  return {
    value: session.id,
    title: toPieces(title, titled ? toRanges(title, titled.matches) : []),
    detail: formatDetail({ ...session, session: session.id, when: match?.ts || session.updatedAt }, searcher),
    excerpts: shown.map((item) => toExcerpt(item, session, searcher)),
  }
}

function toExcerpt(item: WindowItem, session: SessionInfo, { sender }: Searcher): SearchExcerpt {
  const { role, snippet, matches, toolName } = item
  const who = isWindowOf(session.sender, sender) ? 'you' : session.sender
  const leads: Readonly<Record<string, string>> = { user: who, assistant: session.agent, tool: toolName }
  return { lead: leads[role] ?? role, pieces: toPieces(snippet, toRanges(snippet, matches)) }
}

function toListed(info: ConversationInfo, searcher: Searcher): SearchResult {
  const title = shownTitle(info) || 'no messages'
  const more = pluralize(info.messageCount, 'message')
  return {
    value: info.filePath,
    title: toPieces(title, []),
    detail: formatDetail({ ...info, session: info.filePath, when: info.updatedAt, more }, searcher),
    excerpts: [],
  }
}

interface ResultOrigin {
  session: string
  when: string
  agent: string
  sender: string
  cwd: string
  more?: string
}

/** Formats the age of a result, and its agent, sender and directory where they differ from the current ones. */
function formatDetail(at: ResultOrigin, { agent, sender, session, cwd, now }: Searcher): string {
  return [
    relativeTime(at.when, now),
    ...(at.session === session ? ['open here'] : []),
    ...(at.more === undefined ? [] : [at.more]),
    ...(at.agent === agent ? [] : [at.agent]),
    ...(isWindowOf(at.sender, sender) ? [] : [at.sender]),
    ...(at.cwd === cwd ? [] : [at.cwd]),
  ]
    .filter((text) => text !== '')
    .join(' · ')
}

/** Whether a conversation belongs to this window or another one of the same user. */
function isWindowOf(sender: string, own: string): boolean {
  return sender === own || isWindowSender(sender)
}

/** Shows an archive by its title, which is stored as an alias. */
function toEntry(
  { entry, matches }: { entry: MemoryEntry } & Pick<MemoryHit, 'matches'>,
  { now }: Searcher,
): SearchResult {
  const { name, aliases, content, createdAt, kind } = entry
  const isArchive = kind === MemoryKind.ARCHIVE
  const [title, ...others] = isArchive ? [...aliases, name] : [name, ...aliases]
  const kinds = isArchive ? ['summary of a conversation'] : []
  return {
    value: name,
    title: toPieces(title ?? name, []),
    detail: [relativeTime(createdAt, now), ...kinds, ...(isArchive ? [] : others)].join(' · '),
    excerpts: [{ lead: '', pieces: toPieces(content, toRanges(content, matches)) }],
  }
}
