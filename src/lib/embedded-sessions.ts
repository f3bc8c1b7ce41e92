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

/** The sessions of an embedded runtime (RFC 0185). Everything fails with `missing` for a session that is not there. */
export interface EmbeddedSessions {
  /** Begins an empty session, in which the pair's next turn goes on, and gives its id; one that is still empty is used again. */
  create(pair?: { agent?: string; sender?: string; cwd?: string }, signal?: AbortSignal): Promise<string>
  /** Stores what somebody said, behind a turn that runs, and gives its `seq`. Throws `invalid` for calls of tools and their results. */
  append(session: string, message: Message, signal?: AbortSignal): Promise<number>
  /** Those in which something was said, newest first; `total` counts all that match. */
  list(page?: SessionFilter & PageRange): Promise<{ sessions: SessionSummary[]; total: number }>
  /** Messages of one, oldest first; `total` counts all of them. */
  messages(
    session: string,
    page?: PageRange,
  ): Promise<{ messages: (SessionLine & { kind: 'entry' })[]; total: number }>
  /** What is known of one besides its messages. */
  meta(session: string): Promise<SessionSummary>
  /** Those that match best, each with the messages around its best match. */
  search(ask: SessionAsk, signal?: AbortSignal): Promise<SessionMatches>
}

/** The sessions of a runtime that is made of these. */
export function embeddedSessions({
  agents,
  sessions,
  cwd: usualCwd,
}: {
  agents: Pick<Agents, 'get'>
  sessions: Sessions
  cwd: string
}): EmbeddedSessions {
  const { storage } = sessions.place
  const reader = new EntryReader(storage)
  const index = new StorageSearch(storage)
  return {
    async create({ agent: name = 'crab', sender = 'user', cwd = usualCwd } = {}, signal = never()) {
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
    append: (id, message, signal = never()) => appendMessage(sessions, { id, message }, signal),
    list: (page) => listSessions(storage, page),
    messages: (session, page = {}) => listEntries(reader, { session, ...page }),
    meta: async (session) => (await sessionMeta(storage, session)).summary,
    search: (ask, signal = never()) => index.search(toSessionQuery(ask), signal),
  }
}

function never(): AbortSignal {
  return new AbortController().signal
}
