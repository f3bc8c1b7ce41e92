import { MAX_SESSION_HITS, MAX_WINDOW_ITEMS, type SessionQuery } from './types.ts'

/** What somebody looks for; what is left out is not asked for, or has its default. */
export interface SessionAsk {
  text: string
  /** The agent's id. */
  agentId?: string | undefined
  /** Whose conversations: asked once for each session. */
  isSender?: ((sender: string) => boolean) | undefined
  /** Working directory of the conversation, absolute. */
  cwd?: string | undefined
  /** Times of the message, milliseconds since 1970: from, until (not included). */
  since?: number | undefined
  until?: number | undefined
  /** Sessions: by default, and at most, MAX_SESSION_HITS; 0 is the default, too. */
  limit?: number | undefined
  /** Messages around the match; by default 4 and 4. */
  contextBefore?: number | undefined
  contextAfter?: number | undefined
}

/** A query with its defaults and bounds (RFC 0185). */
export function toSessionQuery(ask: SessionAsk): SessionQuery {
  const { text, agentId, isSender, cwd, since, until, contextBefore, contextAfter } = ask
  const isEverything = agentId === undefined && isSender === undefined && cwd === undefined
  return {
    text,
    limit: Math.min(Math.max(Math.floor(ask.limit ?? 0), 0) || MAX_SESSION_HITS, MAX_SESSION_HITS),
    contextBefore: toContext(contextBefore),
    contextAfter: toContext(contextAfter),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(!isEverything && {
      accepts: (_, header) =>
        (agentId === undefined || header.agent_id === agentId) &&
        (cwd === undefined || header.cwd === cwd) &&
        (isSender === undefined || isSender(header.created_by)),
    }),
  }
}

const DEFAULT_CONTEXT = 4

function toContext(messages = DEFAULT_CONTEXT): number {
  return Math.min(Math.max(Math.floor(messages), 0), MAX_WINDOW_ITEMS - 1)
}
