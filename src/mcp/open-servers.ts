import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError, toCrabError } from '../core/base/errors.ts'
import { MAX_SHOWN_MCP_TOOLS } from '../core/base/tool-limits.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import { findMcpEntry } from '../core/config/mcp-declaration.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import type { ProcessHost } from '../core/process/types.ts'
import type { McpServerEvent } from '../core/runtime/events.ts'
import type { Hook, ToolOutput } from '../core/runtime/hook.ts'
import type { TargetDefaults } from './fingerprint.ts'
import { mcpHook, startEager } from './mcp-hook.ts'
import { type Claimed, Peers } from './peers/peers.ts'
import { ServerMemory } from './peers/server-memory.ts'
import { withResourceTool } from './resources/resource-tool.ts'
import { openResourcesAndPrompts, type ResourcesAndPrompts } from './resources-prompts.ts'
import { listAgentTools } from './tools/agent-tools.ts'
import { hiddenBy } from './tools/entry-filter.ts'
import { toPrintableLine } from './tools/remote-tool.ts'
import { isVisibleTool } from './tools/shown-tools.ts'
import { callTool, checkArguments, toUnavailable } from './tools/tool-call.ts'
import { ToolLists } from './tools/tool-lists.ts'
import { keepTexts } from './tools/word-arguments.ts'
import type { AgentView, DeclarationOwner, FrameTap, McpServers, PeerView, VerifiedServer } from './types.ts'
import { type DeclaredServer, viewPeer, viewServers } from './views.ts'

/** The options of `openMcpServers()`. */
export interface McpOptions extends TargetDefaults {
  processes: ProcessHost
  /** The server records are stored in its folder `mcp`; absolute, may be missing. */
  cacheDir: string
  /** The environment of this process; a server gets only the variables it needs. */
  env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since 1970. */
  now(): number
  /** Receives every server event, once for each owner. Must not throw. */
  onEvent?(event: McpServerEvent): void
  /** Sees every message of every connection. */
  frames?: FrameTap
}

/**
 * Opens the MCP servers of a node. Nothing is read, loaded or started until an agent with servers is
 * registered or runs a turn.
 */
export function openMcpServers(options: McpOptions): McpServers {
  const { cacheDir, now, onEvent } = options
  const memory = new ServerMemory(join(cacheDir, 'mcp'))
  const peers = new Peers({ ...options, memory })
  if (onEvent) peers.listen((event) => onEvent(event))
  return new Servers({ peers, memory, now })
}

interface ServersOptions {
  peers: Peers
  memory: ServerMemory
  now(): number
}

class Servers implements McpServers {
  readonly hook: Hook
  readonly resources: ResourcesAndPrompts['resources']
  readonly readResource: ResourcesAndPrompts['readResource']
  readonly prompts: ResourcesAndPrompts['prompts']
  readonly getPrompt: ResourcesAndPrompts['getPrompt']
  readonly #peers: Peers
  readonly #lists: ToolLists
  readonly #memory: ServerMemory
  readonly #now: () => number

  constructor({ peers, memory, now }: ServersOptions) {
    this.#lists = new ToolLists(peers)
    this.hook = withResourceTool(mcpHook({ peers, lists: this.#lists, now }), peers)
    this.#peers = peers
    this.#memory = memory
    this.#now = now
    const resourcesAndPrompts = openResourcesAndPrompts((agent, name) => this.#claim(agent, name))
    this.resources = resourcesAndPrompts.resources
    this.readResource = resourcesAndPrompts.readResource
    this.prompts = resourcesAndPrompts.prompts
    this.getPrompt = resourcesAndPrompts.getPrompt
  }

  peers(): PeerView[] {
    return this.#peers.all().map(viewPeer)
  }

  view(agent: AgentConfig): AgentView {
    const declared = agent.mcps.map((entry) => this.#declared(entry, agent.id))
    const servers = viewServers(agent, declared)
    return {
      agent: agent.name,
      generation: this.#peers.generationOf(agent.id),
      toolLists: this.#lists.getCount(agent.id),
      isGrouped: servers.flatMap(({ tools }) => tools).filter(isVisibleTool).length > MAX_SHOWN_MCP_TOOLS,
      servers,
    }
  }

  async connect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView> {
    const { peer } = await this.#claim(agent, name)
    await withServerName({ agent: agent.name, name }, peer.connect({ insist: true }, signal), signal)
    return viewPeer(peer)
  }

  async ping(agent: AgentConfig, name: string, signal: AbortSignal): Promise<{ peer: PeerView; ms: number }> {
    const { peer } = await this.#claim(agent, name)
    const connection = await withServerName(
      { agent: agent.name, name },
      peer.connect({ insist: true }, signal),
      signal,
    )
    const began = this.#now()
    await withServerName({ agent: agent.name, name }, connection.ping(signal), signal)
    return { ms: this.#now() - began, peer: viewPeer(peer) }
  }

  async reconnect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView> {
    const { peer } = await this.#claim(agent, name)
    await withServerName({ agent: agent.name, name }, peer.reconnect(signal), signal)
    return viewPeer(peer)
  }

  async call(
    {
      agent,
      name,
      tool: toolName,
      args: rawArgs,
      words,
      spillDir,
      outputLimit,
    }: Parameters<McpServers['call']>[0],
    signal: AbortSignal,
  ): Promise<ToolOutput> {
    const { peer, entry } = await this.#claim(agent, name)
    await withServerName({ agent: agent.name, name }, peer.connect({ insist: true }, signal), signal)
    const declared = agent.mcps.map((one) => this.#declared(one, agent.id))
    const own = listAgentTools(declared).filter((one) => one.entry.name === name)
    const found = own.find(({ tool }) => tool.name === toolName) ?? own.find((one) => one.name === toolName)
    if (!found) throw toMissingToolError(entry, toolName)
    const args = words === undefined ? rawArgs : keepTexts(found.tool.inputSchema, rawArgs, words)
    checkArguments(found.tool, args)
    const onProgress = () => {} // the caller waits for the result
    const limited = outputLimit === undefined ? entry : { ...entry, output_limit: outputLimit }
    const attachesAll = outputLimit !== undefined
    const call = { peer, entry: limited, tool: found.tool.name, args, spillDir, onProgress, attachesAll }
    return await callTool(call, signal)
  }

  logs(agent: AgentConfig, name: string): string[] {
    const entry = findMcpEntry(agent.name, agent.mcps, name)
    return this.#peers.find(entry, agent.id)?.logs() ?? []
  }

  async verify(agent: AgentConfig, entry: McpEntry, signal: AbortSignal): Promise<VerifiedServer> {
    const look = await this.#peers.lookAt(entry, agent.id)
    const { peer } = look
    try {
      await peer.connect({ insist: true }, signal)
    } catch (reason) {
      await look[Symbol.asyncDispose]()
      if (signal.aborted) throw toCancelledError(signal)
      throw toUnavailable(entry.name, toCrabError(reason), undefined)
    }
    const { list, fingerprint, state } = peer
    const [view] = viewServers(NOBODY, [{ entry, fingerprint, state, list }])
    const verified = { peer: viewPeer(peer), tools: view!.tools }
    return { ...verified, [Symbol.asyncDispose]: () => look[Symbol.asyncDispose]() }
  }

  async setBaseEnv(baseEnv: Readonly<Record<string, string>>): Promise<void> {
    for (const agentId of await this.#peers.rebase(baseEnv)) startEager(this.#peers, agentId)
  }

  release(): void {
    this.#peers.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const late = new AbortController()
    const end = this.#peers.end().finally(() => late.abort())
    await Promise.race([end, sleep(END_MS, undefined, { signal: late.signal }).catch(() => undefined)])
    if (!late.signal.aborted) this.#peers.release()
  }

  /** Returns the claim of a declaration, after registering the agent if this version of it is not in force. */
  async #claim(agent: AgentConfig, name: string): Promise<Claimed> {
    const entry = findMcpEntry(agent.name, agent.mcps, name)
    if (entry.disabled) throw toDisabledError(name)
    await this.#peers.ensure(agent)
    return this.#peers.claimedBy(agent.id)!.find((claim) => claim.entry.name === name)!
  }

  #declared(entry: McpEntry, agentId: string): DeclaredServer {
    const peer = this.#peers.find(entry, agentId)
    const fingerprint = this.#peers.fingerprint(entry, agentId)
    if (entry.disabled) return { entry, fingerprint, state: 'disabled', list: undefined }
    if (peer) {
      const { state, list, lastErrorAt, error } = { ...viewPeer(peer), list: peer.list }
      return { entry, fingerprint, state, list, error, lastErrorAt }
    }
    const issue = this.#peers.validate(entry)
    if (issue) return { entry, fingerprint, state: 'invalid', list: undefined, error: issue.message }
    const { list, failure } = this.#memory.readNow(fingerprint)
    const known = { entry, fingerprint, list, error: failure?.why ?? '', lastErrorAt: failure?.at }
    return { ...known, state: failure ? (failure.needsAuth ? 'needs_auth' : 'failed') : 'idle' }
  }
}

/** Rethrows a failure as a sentence that names the server; refusals and timeouts become `unavailable` too. */
async function withServerName<T>(
  { agent, name }: DeclarationOwner,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    throw toUnavailable(name, toCrabError(reason), agent)
  }
}

function toDisabledError(name: string): CrabError {
  return new CrabError('config', `Cannot use the MCP server "${name}": it is disabled`, {
    hint: `crabtalk mcp enable ${name}`,
  })
}

function toMissingToolError(entry: McpEntry, tool: string): CrabError {
  const hidden = hiddenBy(entry, tool)
  const why = hidden === '' ? 'it has no such tool' : `the agent does not get it: ${hidden}`
  return new CrabError(
    'missing',
    `Cannot call ${toPrintableLine(tool)} of the MCP server "${entry.name}": ${why}`,
  )
}

/** A stand-in agent for verifying an entry without an owner. */
const NOBODY = { tools: [] }
const END_MS = 5_000
