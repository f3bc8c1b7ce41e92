import { CrabError } from '../core/base/errors.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { PolicyAction } from '../core/policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../core/runtime/hook.ts'
import { withCallingTurn } from './connection/trace.ts'
import { elicitThrough } from './elicitation/elicit.ts'
import { followMovedComponents } from './peers/moved-components.ts'
import type { Peer } from './peers/peer.ts'
import type { Claimed, Peers } from './peers/peers.ts'
import { expandResources } from './resources/expand-mentions.ts'
import { toDepthMeta } from './stdio/depth.ts'
import { refuseTaint } from './taint/taint.ts'
import type { AgentTool } from './tools/agent-tools.ts'
import { hiddenBy } from './tools/entry-filter.ts'
import { makeToolsReady } from './tools/offer.ts'
import { throttledProgress } from './tools/progress.ts'
import type { DroppedTool } from './tools/remote-tool.ts'
import { callTool, checkArguments, type ToolCallOptions } from './tools/tool-call.ts'
import { toGroup } from './tools/tool-group.ts'
import type { ToolLists } from './tools/tool-lists.ts'

/** What the hook needs. */
export interface McpHookOptions {
  peers: Peers
  lists: ToolLists
  /** Milliseconds since 1970. */
  now(): number
}

/** Brings the tools of an agent's MCP servers into its turns. */
export function mcpHook({ peers, lists, now }: McpHookOptions): Hook {
  /** What each turn was shown, by the agent it was made with: lists and declarations may change while the turn runs. */
  const shown = new WeakMap<AgentConfig, OfferedTools>()
  /** What turns began with, by what is aborted when they are over. */
  const begun = new WeakMap<AbortSignal, readonly Claimed[]>()
  /** The ids of the agents that were told of tools that cannot be offered. */
  const told = new WeakMap<readonly DroppedTool[], Set<string>>()
  const show = (agent: AgentConfig, claimed: readonly Claimed[], kept: OfferedTools['claimed']) => {
    const { tools, specs } = lists.get(agent, claimed)
    shown.set(agent, { tools, claimed: kept })
    return specs
  }
  return {
    async onRegisterAgent(agent) {
      await peers.register(agent)
      startEager(peers, agent.id)
    },
    async onUnregisterAgent({ id }) {
      await peers.unregister(id)
      lists.forget(id)
    },
    async schema(agent, turn) {
      if (agent.mcps.length === 0) return []
      const kept = turn.over && begun.get(turn.over)
      if (kept) return show(agent, kept, kept) // it asks again: it has waited for them and was told what is missing
      // What was registered last is what is declared: a turn that waited for its conversation may have an older form.
      if (!peers.claimedBy(agent.id) && (await peers.ensure(agent))) startEager(peers, agent.id)
      const takeDropped = (peer: Peer) => takeOnce(told, peer.memory.newlyDropped, agent.id)
      const claimed = peers.claimedBy(agent.id) ?? []
      const isKept = turn.over !== undefined && holdUntil(turn.over, claimed)
      await makeToolsReady({ peers, agent, claimed, now, takeDropped }, turn)
      if (turn.over && isKept) begun.set(turn.over, claimed)
      return show(agent, claimed, isKept ? claimed : undefined)
    },
    async preprocess(message, signal) {
      const { agent, content } = message
      if (agent.mcps.length === 0 || !MAY_NAME_RESOURCES.test(content)) return undefined
      if (!peers.claimedBy(agent.id)) await peers.ensure(agent)
      return await expandResources(message, peers.claimedBy(agent.id) ?? [], signal)
    },
    groups(agent) {
      const { tools = [], claimed } = shown.get(agent) ?? {}
      return (claimed ?? peers.claimedBy(agent.id) ?? []).map((claim) => toGroup(claim, tools))
    },
    describe(name, request) {
      const found = shown.get(request.agent)?.tools.find((tool) => tool.name === name)
      return found && describe(found, request)
    },
    dispatch(_name, call, signal) {
      const claimed = shown.get(call.agent)?.claimed ?? peers.claimedBy(call.agent.id)
      return dispatch(followMovedComponents(claimed ?? [], peers), call, signal)
    },
  }
}

/** A quick look, which most messages end at. */
const MAY_NAME_RESOURCES = /@[a-z0-9]/

interface OfferedTools {
  tools: readonly AgentTool[]
  /** What the turn began with, and keeps until its end; undefined: what is declared now counts. */
  claimed: readonly Claimed[] | undefined
}

/** Servers that a turn may call stay until it is over (decision 20); false when it is. */
function holdUntil(over: AbortSignal, claimed: readonly Claimed[]): boolean {
  if (over.aborted) return false
  const held = claimed.map(({ peer }) => peer.hold())
  const letGo = () => {
    for (const one of held) one[Symbol.dispose]()
  }
  over.addEventListener('abort', letGo, { once: true })
  return true
}

/** Starts the servers of an agent in the background, but those that wait until they are needed. */
export function startEager(peers: Peers, agentId: string): void {
  for (const { peer, entry } of peers.claimedBy(agentId) ?? []) if (entry.start !== 'lazy') peer.start()
}

async function describe({ name, entry, tool }: AgentTool, { args }: ToolRequest): Promise<PolicyAction> {
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
function dispatch(
  claimed: readonly Claimed[],
  call: ToolDispatch,
  signal: AbortSignal,
): Promise<ToolOutput> | undefined {
  const { action } = call
  if (action.kind !== 'mcp') return undefined
  const claim = claimed.find(({ entry }) => entry.name === action.server)
  if (!claim) return undefined
  const { peer, entry } = claim
  const hidden = hiddenBy(entry, action.tool)
  if (hidden !== '') return Promise.reject(new CrabError('missing', `Cannot call ${action.name}: ${hidden}`))
  return scanAndCall({ peer, entry, tool: action.tool }, call, signal)
}

async function scanAndCall(
  what: Pick<ToolCallOptions, 'peer' | 'entry' | 'tool'>,
  call: ToolDispatch,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const schema = what.peer.list?.tools.find(({ name }) => name === what.tool)?.inputSchema
  await refuseTaint({ ...what, args: call.args, schema, notice: call.notice }, signal)
  return await callAndNotify(what, call, signal)
}

async function callAndNotify(
  what: Pick<ToolCallOptions, 'peer' | 'entry' | 'tool'>,
  { args, spillDir, progress, agent, sender, runId, env, ask, notice }: ToolDispatch,
  signal: AbortSignal,
): Promise<ToolOutput> {
  using throttled = throttledProgress(progress)
  const { onProgress } = throttled
  const elicit = elicitThrough({
    server: what.entry.name,
    turn: runId,
    notice,
    ask: (questions, unwanted) => ask(questions, 'elicitation', unwanted),
  })
  const call = () => callTool({ ...what, args, spillDir, onProgress, elicit, meta: toDepthMeta(env) }, signal)
  return await withCallingTurn({ agent: agent.name, sender, runId }, call)
}
