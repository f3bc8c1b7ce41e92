import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import {
  checkMcpEntry,
  findMcpEntry,
  findNameClash,
  putMcpEntry,
  readMcpEntries,
  toInvalidEntryError,
} from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { redact } from '../../core/config/secrets.ts'
import {
  type DeleteMcpMsg,
  type McpInfo,
  type McpList,
  McpStatus,
  type ReplaceMcps,
  SourceKind,
  type UpsertMcpMsg,
} from '../../core/protocol/crabtalk.generated.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import type { AgentView, McpServers, PeerState, PeerView, ServerView } from '../../mcp/types.ts'
import { toBuiltAgent } from '../built-agent.ts'
import { refuseComponent } from '../components/refuse-component.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'

/**
 * Handles `list_mcps`: returns the declared servers of one agent, or of every agent when `agent` is empty.
 * Does not start any server.
 */
export async function listMcps(
  services: Pick<Services, 'agents' | 'hook' | 'mcp'>,
  agent: string,
  signal: AbortSignal,
): Promise<McpList> {
  const { agents, mcp } = services
  const servers = await mcp(signal)
  const listed = agent === '' ? (await agents.list()).agents : [await agents.get(agent)]
  return { mcps: listed.flatMap((one) => toInfos(toBuiltAgent(services, one), servers)) }
}

/**
 * Handles `upsert_mcp`. With `verify`, the server is started and its tools are listed before anything is
 * written, so that a process killed in between has changed nothing; `toolCount` is then the number of tools
 * that the agent gets. Fails with `missing` or `conflict` when the original entry was removed or changed
 * meanwhile.
 */
export async function upsertMcp(
  services: Pick<Services, 'agents' | 'hook' | 'components' | 'mcp' | 'agentSync'>,
  { agent: name, config, verify, create }: UpsertMcpMsg,
  signal: AbortSignal,
): Promise<McpInfo> {
  const { agents, mcp } = services
  const sent = readObject('Cannot read the entry of the server', config)
  const agent = await agents.get(name || DEFAULT_AGENT)
  const what = `Cannot ${create ? 'add' : 'set'} the server "${sent['name']}"`
  if (create) refuseTaken(what, agent.mcps, sent['name'])
  const invalid = create ? undefined : agent.invalidMcps?.find((one) => one.name === sent['name'])
  if (invalid) throw toInvalidEntryError(invalid)
  const entry = checkMcpEntry(what, sent, agent.mcps)
  const before = agent.mcps.find((one) => one.name === entry.name)
  if (!create && before === undefined) refuseComponent(services, what, { agent, name: entry.name })
  const servers = await mcp(signal)
  const mustVerify = verify && entry.disabled !== true
  // held until the agent shares the connection
  await using verified = mustVerify ? await servers.verify(agent, entry, signal) : undefined
  const after = await updateEntries(services, agent.name, (stored) => {
    const entries = readMcpEntries(stored)
    if (create) refuseTaken(what, entries, entry.name)
    else refuseChanged(what, { agent: agent.name, entries, name: entry.name, before })
    return { mcps: putMcpEntry(entries, entry) }
  })
  const info = toInfos(after, servers).find((one) => one.name === entry.name)!
  return verified ? { ...info, toolCount: verified.tools.filter(isVisibleTool).length } : info
}

/** Handles `delete_mcp`. Fails with `missing` when the agent has no entry of that name. */
export async function deleteMcp(
  services: Pick<Services, 'agents' | 'hook' | 'components' | 'agentSync'>,
  { agent: agentName, name }: DeleteMcpMsg,
): Promise<void> {
  const agent = agentName || DEFAULT_AGENT
  const stored = await services.agents.get(agent)
  refuseComponent(services, `Cannot remove the server "${name}"`, { agent: stored, name })
  await updateEntries(services, agent, (stored) => {
    const entries = readMcpEntries(stored)
    const removed = findMcpEntry(agent, entries, name)
    return { mcps: entries.filter((entry) => entry !== removed) }
  })
}

/** Handles `replace_mcps`: replaces all entries, or none when one of them is invalid. */
export async function replaceMcps(
  services: Pick<Services, 'agents' | 'mcp' | 'agentSync'>,
  { agent: agentName, configs, generation }: ReplaceMcps,
  signal: AbortSignal,
): Promise<McpList> {
  const { agents, mcp } = services
  const agent = await agents.get(agentName || DEFAULT_AGENT)
  const servers = await mcp(signal)
  const what = `Cannot replace the servers of "${agent.name}"`
  const sent = configs.map((config, i) => readObject(`${what}: entry ${i + 1}`, config))
  const after = await updateEntries(services, agent.name, (stored) => {
    if (generation !== undefined && servers.view(agent).generation !== generation)
      throw generationConflict(what)
    return { mcps: sent.map((entry, i) => checkMcpEntry(`${what}: entry ${i + 1}`, entry, stored['mcps'])) }
  })
  return { mcps: toInfos(after, servers) }
}

/** Writes whether a declared server is disabled, and returns the changed agent. */
export async function setDisabled(
  services: Pick<Services, 'agents' | 'hook' | 'components' | 'agentSync'>,
  { agent, name, disabled }: { agent: string; name: string; disabled: boolean },
): Promise<AgentConfig> {
  const what = `Cannot ${disabled ? 'disable' : 'enable'} the server "${name}"`
  refuseComponent(services, what, { agent: await services.agents.get(agent), name })
  return await updateEntries(services, agent, (stored) => {
    const entries = readMcpEntries(stored)
    const entry = findMcpEntry(agent, entries, name)
    if ((entry['disabled'] ?? false) === disabled) return {}
    return { mcps: entries.with(entries.indexOf(entry), { ...entry, disabled }) }
  })
}

/**
 * Changes the declarations in an agent's file and applies them to running servers immediately. Rolls the file
 * back when they cannot be applied.
 */
async function updateEntries(
  { agents, agentSync }: Pick<Services, 'agents' | 'agentSync'>,
  name: string,
  patch: (stored: JsonObject) => { mcps?: JsonObject[] },
): Promise<AgentConfig> {
  let [before, written]: JsonObject[][] = []
  const after = await agents.update(name, (stored) => {
    const changes = patch(stored)
    before = readMcpEntries(stored)
    written = changes.mcps
    return changes
  })
  const failure = await agentSync.changed(after.name)
  if (failure && before && written) await revertChange({ agents, agentSync }, after.name, { before, written })
  if (failure) throw failure
  return after
}

/** Restores the previous entries, unless the file was changed again meanwhile. */
async function revertChange(
  { agents, agentSync }: Pick<Services, 'agents' | 'agentSync'>,
  name: string,
  { before, written }: { before: JsonObject[]; written: JsonObject[] },
): Promise<void> {
  await agents.update(name, (stored) => {
    return isDeepStrictEqual(toPlain(readMcpEntries(stored)), toPlain(written)) ? { mcps: before } : {}
  })
  await agentSync.changed(name)
}

/** Copies entries to plain objects, because a parser may give them a prototype of its own. */
function toPlain(entries: readonly JsonObject[]): unknown {
  return JSON.parse(JSON.stringify(entries))
}

function toInfos(agent: AgentConfig, servers: McpServers): McpInfo[] {
  const peers = servers.peers()
  const view = servers.view(agent)
  return redact(agent).mcps.map((entry) => {
    const server = view.servers.find(({ name }) => name === entry.name)
    const peer = peers.find(({ fingerprint }) => fingerprint === server?.fingerprint)
    return { ...fromEntry(entry), ...fromView(view, server, peer) }
  })
}

function fromEntry(entry: McpEntry) {
  return {
    name: entry.name,
    command: entry.command ?? '',
    args: entry.args ?? [],
    env: entry.env ?? {},
    url: entry.url ?? '',
    auth: entry.auth ?? '',
    autoRestart: true, // a server is always restarted when it is needed
    sourceKind: SourceKind.LOCAL,
  }
}

function fromView(view: AgentView, server: ServerView | undefined, peer: PeerView | undefined) {
  return {
    source: view.agent,
    status: STATUS[server?.state ?? 'invalid'],
    error: peer?.error ?? '',
    toolCount: server?.tools.filter(isVisibleTool).length ?? 0,
    fingerprint: server?.fingerprint ?? '',
    generation: view.generation,
  }
}

const STATUS: Record<PeerState, McpStatus> = {
  disabled: McpStatus.DISCONNECTED,
  invalid: McpStatus.FAILED,
  connecting: McpStatus.CONNECTING,
  connected: McpStatus.CONNECTED,
  needs_auth: McpStatus.FAILED,
  failed: McpStatus.FAILED,
  idle: McpStatus.DISCONNECTED,
}

function refuseTaken(what: string, entries: readonly JsonObject[], name: unknown): void {
  const clash = findNameClash(entries, String(name))
  if (clash === undefined) return
  const why =
    clash === name
      ? 'a server with that name already exists'
      : `its tools would have the same names as those of "${clash}"`
  const hint = `change that one with crabtalk mcp set ${clash}, or remove it with crabtalk mcp remove ${clash}`
  throw new CrabError('conflict', `${what}: ${why}`, { hint })
}

interface EntryChange {
  agent: string
  /** The entries that the file has now. */
  entries: readonly JsonObject[]
  name: string
  /**
   * The entry that the new one is based on. If the file has another one now, writing would undo that change.
   */
  before: McpEntry | undefined
}

function refuseChanged(what: string, { agent, entries, name, before }: EntryChange): void {
  const isNew = before === undefined && entries.every((entry) => entry['name'] !== name)
  if (isNew) return
  const now = findMcpEntry(agent, entries, name)
  const isSame =
    before && isDeepStrictEqual(checkMcpEntry(what, now, [now]), checkMcpEntry(what, { ...before }, [now]))
  if (isSame) return
  const hint = 'try again: the other change is kept'
  throw new CrabError('conflict', `${what}: another client changed it in the meantime`, { hint })
}

function generationConflict(what: string): CrabError {
  return new CrabError('conflict', `${what}: its tools have changed since they were listed`, {
    hint: 'list them again, and send the request with their generation',
  })
}
