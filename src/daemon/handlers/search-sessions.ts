import { CrabError } from '../../core/base/errors.ts'
import { maskCredentials } from '../../core/base/mask-credentials.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { classifyClient } from '../../core/policy/trust.ts'
import type {
  SearchSessions,
  SessionHit,
  SessionHits,
  SessionInfo,
} from '../../core/protocol/crabtalk.generated.ts'
import { type SessionAsk, toSessionQuery } from '../../core/session-search/session-query.ts'
import type { Excerpt, SessionMatch } from '../../core/session-search/types.ts'
import type { SessionRow } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import { resolveAgentId } from './agent-id.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Handles `search_sessions`: returns the sessions whose messages, title or summary match best. Clients on
 * this machine search all agents and senders unless they name some; remote clients search only their own
 * pair.
 */
export async function searchSessions(
  { services, channel }: RequestContext<'agents' | 'stores' | 'sessionIndex'>,
  message: SearchSessions,
  signal: AbortSignal,
): Promise<SessionHits> {
  const isLocal = classifyClient(channel) === 'local'
  const agent = message.agent || (isLocal ? '' : DEFAULT_AGENT)
  const agentId = agent === '' ? undefined : await resolveAgentId(services, agent)
  const { matches, partial } = await services.sessionIndex.search(
    toSessionQuery({ ...toSessionAsk(message), agentId }),
    signal,
  )
  return { hits: await toHits(services, matches), partial }
}

function toSessionAsk({
  query,
  sender,
  cwd,
  since,
  until,
  limit,
  contextBefore,
  contextAfter,
}: SearchSessions) {
  const ask: SessionAsk = {
    text: query,
    cwd: cwd || undefined,
    since: toTime('since', since),
    until: toTime('until', until),
    limit,
    contextBefore,
    contextAfter,
  }
  return sender === '' ? ask : { ...ask, isSender: (other: string) => other === sender }
}

function toTime(field: string, text: string): number | undefined {
  if (text === '') return undefined
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  throw new CrabError(
    'invalid',
    `Cannot search: ${field} is not a timestamp: ${JSON.stringify(text.slice(0, 100))}`,
    {
      hint: 'write it as 2026-01-31T12:00:00Z',
    },
  )
}

async function toHits(
  services: Pick<Services, 'agents' | 'stores'>,
  matches: readonly SessionMatch[],
): Promise<SessionHit[]> {
  if (matches.length === 0) return []
  const [rows, names] = await Promise.all([
    services.stores.storage.summaries(matches.map(({ session }) => session)),
    loadAgentNames(services, matches),
  ])
  const byId = new Map(rows.map((row) => [row.summary.id, row]))
  return matches.flatMap(({ session, seq, score, window }) => {
    const row = byId.get(session)
    // a deleted session has no row
    return row ? [{ session: toInfo(row, names), seq, score, window: window.map(toItem) }] : []
  })
}

/** Returns the current names of the agents of these sessions, by id; deleted agents keep their last name. */
async function loadAgentNames(
  { agents }: Pick<Services, 'agents'>,
  matches: readonly SessionMatch[],
): Promise<ReadonlyMap<string, string>> {
  const last = new Map(matches.map(({ header: { agent_id, agent } }) => [agent_id, agent]))
  const ids = await Promise.all([...last.values()].map((name) => agents.idOf(name).catch(() => undefined)))
  if ([...last.keys()].every((id, at) => id === ids[at])) return last // avoids reading all agents
  return new Map([...last, ...(await agents.list()).agents.map(({ id, name }) => [id, name] as const)])
}

/** Masks what looks like a credential in title and preview, as in excerpts. */
function toInfo({ summary, isActive }: SessionRow, names: ReadonlyMap<string, string>): SessionInfo {
  const { archiveCount: _, activeSince: __, forkedFrom = '', ...known } = summary
  const [title, preview] = [known.title, known.preview].map((text) => maskCredentials(text, '***')) as [
    string,
    string,
  ]
  const agent = names.get(known.agentId) ?? known.agent
  return { ...known, agent, title, preview, forkedFrom, active: isActive }
}

function toItem({ matches, ...item }: Excerpt) {
  return { ...item, matches: [...matches] }
}
