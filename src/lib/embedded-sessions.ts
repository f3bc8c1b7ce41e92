import type { Message } from '../core/base/message.ts'
import { EntryReader } from '../core/runtime/entry-reader.ts'
import type { Agents } from '../core/runtime/runtime-options.ts'
import { listEntries, listSessions, type PageRange, sessionMeta } from '../core/runtime/session-pages.ts'
import { appendMessage, newSession, type Sessions } from '../core/runtime/sessions.ts'
import { type SessionAsk, toSessionQuery } from '../core/session-search/session-query.ts'
import { StorageSearch } from '../core/session-search/storage-search.ts'
import type { SessionMatches } from '../core/session-search/types.ts'
import {
  SESSION_VERSION,
  type SessionFilter,
  type SessionLine,
  type SessionSummary,
} from '../core/storage/types.ts'

/** The sessions of an embedded runtime (ADR 0111). All methods reject with `missing` for an unknown session. */
export interface EmbeddedSessions {
  /**
   * Starts an empty session, which the pair's next turn continues, and returns its id; an empty one is
   * reused.
   */
  create(pair?: { agent?: string; sender?: string; cwd?: string }, signal?: AbortSignal): Promise<string>
  /**
   * Appends a message, after a running turn if there is one, and returns its `seq`. Rejects with `invalid`
   * for tool calls and their results.
   */
  append(session: string, message: Message, signal?: AbortSignal): Promise<number>
  /** Lists the sessions that have messages, newest first; `total` counts all matches. */
  list(page?: SessionFilter & PageRange): Promise<{ sessions: SessionSummary[]; total: number }>
  /** Returns messages of a session, oldest first; `total` counts all of them. */
  messages(
    session: string,
    page?: PageRange,
  ): Promise<{ messages: (SessionLine & { kind: 'entry' })[]; total: number }>
  /** Returns the metadata of a session. */
  meta(session: string): Promise<SessionSummary>
  /** Searches sessions, the best match first, each with the messages around its best match. */
  search(ask: SessionAsk, signal?: AbortSignal): Promise<SessionMatches>
}

/** Creates the session operations of an embedded runtime. */
export function embeddedSessions({
  agents,
  sessions,
  cwd: usualCwd,
}: {
  agents: Pick<Agents, 'get'>
  sessions: Sessions
  cwd: string
}): EmbeddedSessions {
  const { storage } = sessions.stores
  const reader = new EntryReader(storage)
  const index = new StorageSearch(storage)
  return {
    async create({ agent: name = 'crab', sender = 'user', cwd = usualCwd } = {}, signal = neverAborted()) {
      const agent = await agents.get(name)
      const header = {
        v: SESSION_VERSION,
        agent: agent.name,
        agent_id: agent.id,
        created_by: sender,
        created_at: new Date().toISOString(),
        cwd,
      }
      return await newSession(sessions, header, signal)
    },
    append: (id, message, signal = neverAborted()) => appendMessage(sessions, { id, message }, signal),
    list: (page) => listSessions(storage, page),
    messages: (session, page = {}) => listEntries(reader, { session, ...page }),
    meta: async (session) => (await sessionMeta(storage, session)).summary,
    search: (ask, signal = neverAborted()) => index.search(toSessionQuery(ask), signal),
  }
}

function neverAborted(): AbortSignal {
  return new AbortController().signal
}
