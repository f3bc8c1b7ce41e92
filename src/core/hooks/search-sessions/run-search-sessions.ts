import { maskCredentials } from '../../base/mask-credentials.ts'
import { ownSenders } from '../../policy/class-rights.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SessionMatches, SessionQuery } from '../../session-search/types.ts'
import type { Storage } from '../../storage/types.ts'
import { toAnswer } from './answer.ts'
import { searchArguments } from './arguments.ts'

/** The dependencies of the session search. */
export interface SearchPort {
  search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches>
  /** The source of titles. */
  storage: Pick<Storage, 'summaries'>
}

/**
 * Runs a call: searches the agent's conversations with the same sender, in a local turn those with all local
 * senders (ADR 0125). The current conversation is excluded, because its newest message would always be the
 * best match.
 */
export async function runSearchSessions(
  { args, agent, sender, session, trust }: ToolDispatch,
  { search, storage }: SearchPort,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { query, since, until, ...bounds } = searchArguments(args)
  const isOwn = ownSenders(trust, sender)
  const found = await search(
    {
      text: query,
      ...bounds,
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      accepts: (id, header) => id !== session && header.agent_id === agent.id && isOwn(header.created_by),
    },
    signal,
  )
  const rows = await storage.summaries(found.matches.map((match) => match.session))
  const titles = new Map(rows.map(({ summary: { id, title } }) => [id, maskCredentials(title, '***')]))
  return { output: toAnswer(found, { query, titles }), isError: false }
}
