import { maskCredentials } from '../../base/mask-credentials.ts'
import { collapseBlanks } from '../../base/sanitize.ts'
import { takeStart } from '../../base/truncate.ts'
import { ownSenders } from '../../policy/class-rights.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { Excerpt, SessionMatch, SessionMatches, SessionQuery } from '../../session-search/types.ts'
import type { Storage } from '../../storage/types.ts'
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

/**
 * Formats search results as compact text for a model: for each conversation its id as in listings, its date
 * and title, then its excerpts, with `>` before the match.
 */
export function toAnswer(
  { matches, partial }: SessionMatches,
  { query, titles }: { query: string; titles: ReadonlyMap<string, string> },
): string {
  const more = partial ? ['The index is still being built: older conversations may be missing.'] : []
  if (matches.length === 0) return [`Nothing was found for ${query}.`, ...more].join('\n')
  const blocks = matches.map((match) => toBlock(match, titles.get(match.session) ?? ''))
  return [...blocks, ...more].join('\n\n')
}

function toBlock({ session, header, seq, window }: SessionMatch, title: string): string {
  const match = window.find((item) => item.seq === seq)
  const day = (match?.ts || header.created_at).slice(0, 10)
  const head = [`[${session.slice(-ID_CHARS)}]`, day, title && collapseBlanks(title)]
    .filter(Boolean)
    .join(' ')
  return [head, ...window.map((item) => toLine(item, item === match))].join('\n')
}

function toLine({ role, snippet, toolName, truncated }: Excerpt, isMatch: boolean): string {
  const who = role === 'tool' ? toolName || role : role
  const text = collapseBlanks(snippet)
  const shown = isMatch ? text : takeStart(text, CONTEXT_CHARS)
  const isCut = truncated || shown.length < text.length
  return `${isMatch ? '>' : ' '} ${who}: ${shown}${isCut && !shown.endsWith('…') ? '…' : ''}`
}

/** The number of characters at the end of an id that listings show. */
const ID_CHARS = 8
/** The most characters of a message next to the match. */
const CONTEXT_CHARS = 300
