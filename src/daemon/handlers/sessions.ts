import { CrabError } from '../../core/base/errors.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { classifyTurn } from '../../core/policy/trust.ts'
import type {
  ActivateSession,
  ArchiveInfo,
  ArchiveList,
  ForkSession,
  GeneratedTitle,
  GenerateTitle,
  GetSession,
  ListArchives,
  NewSession,
  SessionInfo,
  SetTitle,
} from '../../core/protocol/crabtalk.generated.ts'
import { sessionMeta } from '../../core/runtime/session-pages.ts'
import * as runtime from '../../core/runtime/sessions.ts'
import { toTitle } from '../../core/runtime/title.ts'
import { SESSION_VERSION } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import { getSession } from './conversations.ts'
import type { RequestContext } from './request-context.ts'
import { resolveSessionAgent } from './session-agent.ts'
import { describePair, resolvePair } from './steering.ts'
import { toTokenUsage } from './stream-events.ts'
import { resolveTurnDirectory } from './turn-message.ts'

/** `get_session`: that session, or the active one of a pair. */
export async function findSession(services: Services, message: GetSession): Promise<SessionInfo> {
  const { storage } = services.place
  const { session, agent, sender } = message
  if (session !== '' || (agent === '' && sender === '')) return await getSession(storage, session)
  const active = await storage.activeSession(await resolvePair(services, message))
  if (active !== undefined) return await getSession(storage, active)
  throw new CrabError('missing', `Cannot find a session: ${describePair(message)} have none`)
}

/** `new_session`: an empty one, which is the pair's active one from now on. */
export async function handleNewSession(
  { services, channel }: RequestContext,
  message: NewSession,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { agent, sender } = completePair(channel, message)
  const { id: agentId, name } = await services.agents.get(agent)
  const pair = { agentId, sender }
  const trust = classifyTurn(channel, pair.sender)
  const chosen = resolveTurnDirectory(message.cwd, pair.sender, trust)
  const header = {
    v: SESSION_VERSION,
    agent: name,
    agent_id: agentId,
    created_by: pair.sender,
    created_at: new Date(services.now()).toISOString(),
    cwd: chosen ?? (await services.usualCwd({ ...pair, agent: name }, trust)),
  }
  return await getSession(services.place.storage, await runtime.newSession(services, header, signal))
}

/** `activate_session`: its pair continues there. Gives the agent the name it goes by now; throws as `resolveSessionAgent` does. */
export async function handleActivateSession(
  services: Services,
  { session }: ActivateSession,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { storage } = services.place
  const { summary, isActive } = await sessionMeta(storage, session)
  const agent = await resolveSessionAgent(services.agents, summary)
  if (!isActive)
    await runtime.activateSession(services, { id: session, now: new Date(services.now()) }, signal)
  return { ...(await getSession(storage, session)), agent }
}

/** `fork_session`: a copy, or that of a beginning, which is the pair's active one from now on. As `activate_session`. */
export async function handleForkSession(
  services: Services,
  { session, upto }: ForkSession,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { storage } = services.place
  const agent = await resolveSessionAgent(services.agents, (await sessionMeta(storage, session)).summary)
  const at = { id: session, upto, now: new Date(services.now()) }
  return { ...(await getSession(storage, await runtime.forkSession(services, at, signal))), agent }
}

/** `set_title`: on one line; an empty one removes it. */
export async function handleSetTitle(
  services: Services,
  { session, title }: SetTitle,
  signal: AbortSignal,
): Promise<SessionInfo> {
  await runtime.changeMeta(services, { id: session, meta: { title: toTitle(title) } }, signal)
  return await getSession(services.place.storage, session)
}

/** `generate_title`: a proposal of the model of the session's agent, or of another. */
export async function generateTitle(
  services: Services,
  { session, model: asked }: GenerateTitle,
  signal: AbortSignal,
): Promise<GeneratedTitle> {
  const { header } = await services.place.storage.read(session)
  const { agents } = await services.agents.list()
  const agent = agents.find(({ id }) => id === header.agent_id)?.name ?? header.agent
  const about = { session, agent, ...(asked && { model: asked }) }
  const { title, model, usage } = await (await services.runtime(signal)).proposeTitle(about, signal)
  return { title, model, usage: usage && toTokenUsage(usage) }
}

/** `list_archives`: what compaction made of a session, or of all sessions of an agent, oldest first. */
export async function listArchives(
  services: Services,
  { session, agent }: ListArchives,
): Promise<ArchiveList> {
  const { storage } = services.place
  if (session !== '') return { archives: await listSessionArchives(services, session) }
  const { agentId } = await resolvePair(services, { agent, sender: '' })
  const compacted = (await storage.listSessions({ agentId })).filter((one) => one.archiveCount > 0)
  const archives: ArchiveInfo[] = []
  for (const { id } of compacted) archives.push(...(await listSessionArchives(services, id)))
  return { archives: archives.sort((a, b) => (a.archivedAt < b.archivedAt ? -1 : 1)) }
}

async function listSessionArchives({ place }: Services, session: string): Promise<ArchiveInfo[]> {
  const { lines } = await place.storage.read(session)
  return lines.flatMap((line) =>
    line.kind === 'compact'
      ? [{ name: line.archive_name, title: line.title, session, archivedAt: line.archived_at }]
      : [],
  )
}
