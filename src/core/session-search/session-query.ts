import { MAX_SESSION_HITS, MAX_WINDOW_ITEMS, type SessionQuery } from './types.ts'

/** The search parameters of a client; an absent one imposes no condition or has its default. */
export interface SessionAsk {
  text: string
  /** The agent's id. */
  agentId?: string | undefined
  /** Selects conversations by sender; called once per session. */
  isSender?: ((sender: string) => boolean) | undefined
  /** The working directory of the conversation, absolute. */
  cwd?: string | undefined
  /** The start (inclusive) and end (exclusive) of the time range, in milliseconds since 1970. */
  since?: number | undefined
  until?: number | undefined
  /** The maximum number of sessions, at most MAX_SESSION_HITS, which is the default; 0 means the default. */
  limit?: number | undefined
  /** The number of messages before and after the match; by default 4 each. */
  contextBefore?: number | undefined
  contextAfter?: number | undefined
}

/** Applies defaults and bounds to search parameters. */
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
