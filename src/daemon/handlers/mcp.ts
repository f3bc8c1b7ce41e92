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
import { isVisibleTool } from '../../mcp/tools/shown-tools.ts'
import type { AgentView, McpServers, PeerState, PeerView, ServerView } from '../../mcp/types.ts'
import { toBuiltAgent } from '../built-agent.ts'
import { refuseComponent } from '../components/refuse-component.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'

/** `list_mcps`: what one agent declares, or every agent when it is empty. Nothing is started. */
export async function listMcps(services: Services, agent: string, signal: AbortSignal): Promise<McpList> {
  const { agents, mcp } = services
  const servers = await mcp(signal)
  const listed = agent === '' ? (await agents.list()).agents : [await agents.get(agent)]
  return { mcps: listed.flatMap((one) => toInfos(toBuiltAgent(services, one), servers)) }
}

/**
 * `upsert_mcp`: with `verify` the server is started and its tools are listed before anything is written, so a process
 * that is killed meanwhile has changed nothing. `tool_count` then says what it has. Fails with `missing` or `conflict` when
 * the entry that was there at first has gone or changed meanwhile.
 */
export async function upsertMcp(
  services: Services,
  { agent: name, config, verify, create }: UpsertMcpMsg,
  signal: AbortSignal,
): Promise<McpInfo> {
  const { agents, mcp } = services
  const sent = readObject('Cannot read the entry of the server', config)
  const agent = await agents.get(name || DEFAULT_AGENT)
  const what = `Cannot ${create ? 'add' : 'set'} the server "${sent['name']}"`
  if (create) refuseTaken(what, agent.mcps, sent['name'])
  const entry = checkMcpEntry(what, sent, agent.mcps)
  const before = agent.mcps.find((one) => one.name === entry.name)
  if (!create && before === undefined) refuseComponent(services, what, { agent, name: entry.name })
  const servers = await mcp(signal)
  const isTried = verify && entry.disabled !== true
  await using tried = isTried ? await servers.verify(agent, entry, signal) : undefined // and then it is the agent's
  const after = await change(services, agent.name, (stored) => {
    const entries = readMcpEntries(stored)
    if (create) refuseTaken(what, entries, entry.name)
    else refuseChanged(what, { agent: agent.name, entries, name: entry.name, before })
    return { mcps: putMcpEntry(entries, entry) }
  })
  const info = toInfos(after, servers).find((one) => one.name === entry.name)!
  return tried ? { ...info, toolCount: tried.tools.filter(isVisibleTool).length } : info
}

/** `delete_mcp`: `missing` when the agent has no entry of that name. */
export async function deleteMcp(services: Services, { agent: given, name }: DeleteMcpMsg): Promise<void> {
  const agent = given || DEFAULT_AGENT
  const stored = await services.agents.get(agent)
  refuseComponent(services, `Cannot remove the server "${name}"`, { agent: stored, name })
  await change(services, agent, (stored) => {
    const entries = readMcpEntries(stored)
    const gone = findMcpEntry(agent, entries, name)
    return { mcps: entries.filter((entry) => entry !== gone) }
  })
}

/** `replace_mcps`: all entries or, when one of them is wrong, none. */
export async function replaceMcps(
  services: Services,
  { agent: given, configs, generation }: ReplaceMcps,
  signal: AbortSignal,
): Promise<McpList> {
  const { agents, mcp } = services
  const agent = await agents.get(given || DEFAULT_AGENT)
  const servers = await mcp(signal)
  const what = `Cannot replace the servers of "${agent.name}"`
  const sent = configs.map((config, i) => readObject(`${what}: entry ${i + 1}`, config))
  const after = await change(services, agent.name, (stored) => {
    if (generation !== undefined && servers.view(agent).generation !== generation) throw isNewer(what)
    return { mcps: sent.map((entry, i) => checkMcpEntry(`${what}: entry ${i + 1}`, entry, stored['mcps'])) }
  })
  return { mcps: toInfos(after, servers) }
}

/** Writes whether a declared server is disabled; gives the agent as it is then. */
export async function setDisabled(
  services: Services,
  { agent, name, disabled }: { agent: string; name: string; disabled: boolean },
): Promise<AgentConfig> {
  const what = `Cannot ${disabled ? 'disable' : 'enable'} the server "${name}"`
  refuseComponent(services, what, { agent: await services.agents.get(agent), name })
  return await change(services, agent, (stored) => {
    const entries = readMcpEntries(stored)
    const entry = findMcpEntry(agent, entries, name)
    if ((entry['disabled'] ?? false) === disabled) return {}
    return { mcps: entries.with(entries.indexOf(entry), { ...entry, disabled }) }
  })
}

/** Changes what an agent's file declares; servers that run hear of it at once. What they cannot hear of is taken back. */
async function change(
  { agents, roster }: Services,
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
  const failure = await roster.changed(after.name)
  if (failure && before && written) await revertChange({ agents, roster }, after.name, { before, written })
  if (failure) throw failure
  return after
}

/** Nothing is undone that somebody else has written meanwhile. */
async function revertChange(
  { agents, roster }: Pick<Services, 'agents' | 'roster'>,
  name: string,
  { before, written }: { before: JsonObject[]; written: JsonObject[] },
): Promise<void> {
  await agents.update(name, (stored) => {
    return isDeepStrictEqual(plain(readMcpEntries(stored)), plain(written)) ? { mcps: before } : {}
  })
  await roster.changed(name)
}

/** As objects without prototypes of their own, which a reader may give them. */
function plain(entries: readonly JsonObject[]): unknown {
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
    autoRestart: true, // every server is started again when it is needed
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
  const taken = findNameClash(entries, String(name))
  if (taken === undefined) return
  const why =
    taken === name ? 'there is one of that name' : `its tools could not be told from those of "${taken}"`
  const hint = `crabtalk mcp set ${taken} changes that one, crabtalk mcp remove ${taken} takes it away`
  throw new CrabError('conflict', `${what}: ${why}`, { hint })
}

interface Rewriting {
  agent: string
  /** What the file says now. */
  entries: readonly JsonObject[]
  name: string
  /** The entry that the new one was made from, which it would undo otherwise. */
  before: McpEntry | undefined
}

function refuseChanged(what: string, { agent, entries, name, before }: Rewriting): void {
  const isNew = before === undefined && entries.every((entry) => entry['name'] !== name)
  if (isNew) return
  const now = findMcpEntry(agent, entries, name)
  const isSame =
    before && isDeepStrictEqual(checkMcpEntry(what, now, [now]), checkMcpEntry(what, { ...before }, [now]))
  if (isSame) return
  const hint = 'try again: what the other one wrote is kept'
  throw new CrabError('conflict', `${what}: somebody else has changed it meanwhile`, { hint })
}

function isNewer(what: string): CrabError {
  return new CrabError('conflict', `${what}: its tools have changed since they were listed`, {
    hint: 'list them again, and send the request with their generation',
  })
}
