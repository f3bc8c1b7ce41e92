import { maskCredentials } from '../../base/mask-credentials.ts'
import { ownSenders } from '../../policy/class-rights.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SessionMatches, SessionQuery } from '../../session-search/types.ts'
import type { Storage } from '../../storage/types.ts'
import { toAnswer } from './answer.ts'
import { searchArguments } from './arguments.ts'

/** What finds conversations. */
export interface SearchPort {
  search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches>
  /** For titles. */
  storage: Pick<Storage, 'summaries'>
}

/**
 * Runs a call: the conversations of the agent with whoever it speaks with (decision 38), besides the one that asks, whose
 * newest message is always the best match for its own words.
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
