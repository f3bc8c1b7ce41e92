import { parseEffort } from '../../core/base/effort.ts'
import { CrabError } from '../../core/base/errors.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import type { AgentStore } from '../../core/config/agents.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { openWorkspace } from '../../core/policy/paths.ts'
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
  SetSessionCwd,
  SetSessionModel,
  SetTitle,
} from '../../core/protocol/crabtalk.generated.ts'
import { sessionMeta } from '../../core/runtime/session-pages.ts'
import * as runtime from '../../core/runtime/sessions.ts'
import { toTitle } from '../../core/runtime/title.ts'
import { SESSION_VERSION, type SessionSummary } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import { getSession } from './conversations.ts'
import type { RequestContext } from './request-context.ts'
import { describePair, resolvePair } from './steering.ts'
import { toTokenUsage } from './stream-events.ts'
import { resolveTurnDirectory } from './turn-message.ts'

/** Handles `get_session`: returns the session with that id, or the active session of a pair. */
export async function findSession(
  services: Pick<Services, 'agents' | 'stores'>,
  message: GetSession,
): Promise<SessionInfo> {
  const { storage } = services.stores
  const { session, agent, sender } = message
  if (session !== '' || (agent === '' && sender === '')) return await getSession(storage, session)
  const active = await storage.activeSession(await resolvePair(services, message))
  if (active !== undefined) return await getSession(storage, active)
  throw new CrabError('missing', `Cannot find a session: none exists for ${describePair(message)}`, {
    hint: 'crabtalk conversation list shows all conversations',
  })
}

/** Handles `new_session`: creates an empty session and makes it the active one of its pair. */
export async function handleNewSession(
  { services, channel }: RequestContext<'agents' | 'stores' | 'running' | 'journals' | 'defaultCwd' | 'now'>,
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
    cwd: chosen ?? (await services.defaultCwd({ ...pair, agent: name }, trust)),
  }
  return await getSession(services.stores.storage, await runtime.newSession(services, header, signal))
}

/**
 * Handles `activate_session`: makes a session the active one of its pair. Returns it with the current name of
 * its agent; throws as `resolveSessionAgent` does.
 */
export async function handleActivateSession(
  services: Pick<Services, 'agents' | 'stores' | 'running' | 'journals' | 'now'>,
  { session }: ActivateSession,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { storage } = services.stores
  const { summary, isActive } = await sessionMeta(storage, session)
  const agent = await resolveSessionAgent(services.agents, summary)
  if (!isActive)
    await runtime.activateSession(services, { id: session, now: new Date(services.now()) }, signal)
  return { ...(await getSession(storage, session)), agent }
}

/**
 * Handles `fork_session`: copies a session, or its beginning, and makes the copy the active session of the
 * pair, or of the pair with another sender. The copy of a conversation that is not local keeps its sender, so
 * that it has no more rights. Returns the agent's name and throws as `activate_session` does.
 */
export async function handleForkSession(
  services: Pick<Services, 'agents' | 'stores' | 'running' | 'journals' | 'now'>,
  { session, upto, before, sender }: ForkSession,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { storage } = services.stores
  const { summary } = await sessionMeta(storage, session)
  const agent = await resolveSessionAgent(services.agents, summary)
  const isFree = sender !== '' && classifySender(summary.sender) === 'local'
  const last = before > 0 ? before - 1 : upto || Number.POSITIVE_INFINITY
  const at = { id: session, upto: last, now: new Date(services.now()), ...(isFree && { sender }) }
  return { ...(await getSession(storage, await runtime.forkSession(services, at, signal))), agent }
}

/** Handles `set_title`; the title is reduced to one line, and an empty one removes it. */
export async function handleSetTitle(
  services: Pick<Services, 'stores' | 'running' | 'journals'>,
  { session, title }: SetTitle,
  signal: AbortSignal,
): Promise<SessionInfo> {
  await runtime.changeMeta(services, { id: session, meta: { title: toTitle(title) } }, signal)
  return await getSession(services.stores.storage, session)
}

/** Handles `set_session_cwd`. Throws `denied` unless the sender is local, `missing` when the directory does not exist. */
export async function setSessionCwd(
  services: Pick<Services, 'stores' | 'running' | 'journals'>,
  { session, cwd }: SetSessionCwd,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { header } = await services.stores.storage.read(session)
  const trust = classifyTurn('process', header.created_by)
  const chosen = resolveTurnDirectory(cwd, header.created_by, trust) ?? ''
  const meta = { cwd: await openWorkspace(chosen) }
  await runtime.changeMeta(services, { id: session, meta }, signal)
  return await getSession(services.stores.storage, session)
}

/**
 * Handles `set_session_model`. Throws `config` for a model that no source has, `invalid` for an unknown effort.
 */
export async function setSessionModel(
  services: Pick<Services, 'stores' | 'running' | 'journals' | 'models'>,
  { session, model: name, effort }: SetSessionModel,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const model = name.trim()
  if (model !== '') (await services.models(signal)).prepare(model)
  const meta = { model, effort: effort === '' ? '' : parseEffort(effort) }
  await runtime.changeMeta(services, { id: session, meta }, signal)
  return await getSession(services.stores.storage, session)
}

/**
 * Handles `generate_title`: returns a title proposed by the model of the session's agent, or by the requested
 * model.
 */
export async function generateTitle(
  services: Pick<Services, 'agents' | 'stores' | 'runtime'>,
  { session, model: requestedModel }: GenerateTitle,
  signal: AbortSignal,
): Promise<GeneratedTitle> {
  const { header } = await services.stores.storage.read(session)
  const { agents } = await services.agents.list()
  const agent = agents.find(({ id }) => id === header.agent_id)?.name ?? header.agent
  const about = { session, agent, ...(requestedModel && { model: requestedModel }) }
  const { title, model, usage } = await (await services.runtime(signal)).proposeTitle(about, signal)
  return { title, model, usage: usage && toTokenUsage(usage) }
}

/**
 * Handles `list_archives`: returns the archives that compaction made of a session, or of all sessions of an
 * agent, oldest first.
 */
export async function listArchives(
  services: Pick<Services, 'agents' | 'stores'>,
  { session, agent }: ListArchives,
): Promise<ArchiveList> {
  const { storage } = services.stores
  if (session !== '') return { archives: await listSessionArchives(services, session) }
  const { agentId } = await resolvePair(services, { agent, sender: '' })
  const compacted = (await storage.listSessions({ agentId })).filter((one) => one.archiveCount > 0)
  const archives: ArchiveInfo[] = []
  for (const { id } of compacted) archives.push(...(await listSessionArchives(services, id)))
  return { archives: archives.sort((a, b) => (a.archivedAt < b.archivedAt ? -1 : 1)) }
}

async function listSessionArchives(
  { stores }: Pick<Services, 'stores'>,
  session: string,
): Promise<ArchiveInfo[]> {
  const { lines } = await stores.storage.read(session)
  return lines.flatMap((line) =>
    line.kind === 'compact'
      ? [{ name: line.archive_name, title: line.title, session, archivedAt: line.archived_at }]
      : [],
  )
}

/**
 * Resolves the current name of the agent of a stored session, by which its next turn is requested.
 *
 * Throws `missing` when that agent was deleted, even if another agent has its name now.
 */
export async function resolveSessionAgent(
  agents: Pick<AgentStore, 'idOf' | 'list'>,
  { id, agent, agentId }: Pick<SessionSummary, 'id' | 'agent' | 'agentId'>,
): Promise<string> {
  const namesake = await findAgentId(agents, agent)
  if (namesake === agentId) return agent
  const renamed = (await agents.list()).agents.find((one) => one.id === agentId)
  if (renamed) return renamed.name
  const other = namesake === undefined ? '' : `, and today's "${agent}" is a different agent`
  throw new CrabError(
    'missing',
    `Cannot continue the conversation: its agent "${agent}" was deleted${other}`,
    {
      hint: `crabtalk conversation show ${id} shows its messages`,
    },
  )
}

async function findAgentId(agents: Pick<AgentStore, 'idOf'>, name: string): Promise<string | undefined> {
  try {
    return await agents.idOf(name)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'missing') return undefined
    throw reason
  }
}
