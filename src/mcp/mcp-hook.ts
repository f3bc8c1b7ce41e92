import { CrabError } from '../core/base/errors.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { Action } from '../core/policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../core/runtime/hook.ts'
import { type AgentTool, toSpecs } from './agent-tools.ts'
import { hiddenBy } from './entry-filter.ts'
import { offerTools } from './offer.ts'
import type { Peer } from './peer.ts'
import type { Peers } from './peers.ts'
import { throttledProgress } from './progress.ts'
import type { DroppedTool } from './remote-tool.ts'
import { callTool, checkArguments, type ToolCallOptions } from './tool-call.ts'

/** What the hook needs. */
export interface McpHookOptions {
  peers: Peers
  /** Milliseconds since 1970. */
  now(): number
}

/** Brings the tools of an agent's MCP servers into its turns. */
export function mcpHook({ peers, now }: McpHookOptions): Hook {
  /** What each turn was shown, by the agent it was made with: a list may change while the turn runs. */
  const shown = new WeakMap<AgentConfig, readonly AgentTool[]>()
  /** The ids of the agents that were told of tools that cannot be offered. */
  const told = new WeakMap<readonly DroppedTool[], Set<string>>()
  return {
    async onRegisterAgent(agent) {
      await peers.register(agent)
      startEager(peers, agent.id)
    },
    onUnregisterAgent: ({ id }) => peers.unregister(id),
    async schema(agent, turn) {
      if (agent.mcps.length === 0) return []
      if (await peers.ensure(agent)) startEager(peers, agent.id)
      const takeDropped = (peer: Peer) => takeOnce(told, peer.memory.newlyDropped, agent.id)
      const tools = await offerTools({ peers, agent, now, takeDropped }, turn)
      shown.set(agent, tools)
      return toSpecs(agent, tools)
    },
    describe(name, request) {
      const found = shown.get(request.agent)?.find((tool) => tool.name === name)
      return found && describe(found, request)
    },
    dispatch: (_name, call, signal) => dispatch(peers, call, signal),
  }
}

function startEager(peers: Peers, agentId: string): void {
  for (const { peer, entry } of peers.claimedBy(agentId) ?? []) if (entry.start !== 'lazy') peer.start()
}

async function describe({ name, entry, tool }: AgentTool, { args }: ToolRequest): Promise<Action> {
  checkArguments(tool, args)
  return { kind: 'mcp', name, server: entry.name, tool: tool.name }
}

/** The tools, the first time this agent is told of them. */
function takeOnce(
  told: WeakMap<readonly DroppedTool[], Set<string>>,
  dropped: readonly DroppedTool[],
  agentId: string,
): readonly DroppedTool[] {
  const agents = told.get(dropped) ?? new Set()
  if (agents.has(agentId)) return []
  told.set(dropped, agents.add(agentId))
  return dropped
}

/** Calls what was permitted; undefined when that is no tool of a server of the agent. */
function dispatch(peers: Peers, call: ToolDispatch, signal: AbortSignal): Promise<ToolOutput> | undefined {
  const { action, agent } = call
  if (action.kind !== 'mcp') return undefined
  const claim = peers.claimedBy(agent.id)?.find(({ entry }) => entry.name === action.server)
  if (!claim) return undefined
  const { peer, entry } = claim
  const hidden = hiddenBy(entry, action.tool)
  if (hidden !== '') return Promise.reject(new CrabError('missing', `Cannot call ${action.name}: ${hidden}`))
  return callAndTell({ peer, entry, tool: action.tool }, call, signal)
}

async function callAndTell(
  what: Pick<ToolCallOptions, 'peer' | 'entry' | 'tool'>,
  { args, spillDir, progress }: ToolDispatch,
  signal: AbortSignal,
): Promise<ToolOutput> {
  using throttled = throttledProgress(progress)
  return await callTool({ ...what, args, spillDir, onProgress: throttled.onProgress }, signal)
}
