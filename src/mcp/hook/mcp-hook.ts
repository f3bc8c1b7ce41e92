import { CrabError } from '../../core/base/errors.ts'
import { wrapInTag } from '../../core/base/wrap-text.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { DISCOVERY, getPortFile } from '../../core/config/component.ts'
import { getProjectServerFile } from '../../core/config/project-server-file.ts'
import type { PolicyAction } from '../../core/policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../../core/runtime/hook.ts'
import { withCallingTurn } from '../connection/trace.ts'
import { elicitThrough } from '../elicitation/elicit.ts'
import type { Claim, Peer } from '../peers/peer.ts'
import type { Peers } from '../peers/peers.ts'
import { callTool, checkArguments, type ToolCallOptions } from '../peers/tool-call.ts'
import { expandResources } from '../resources/expand-mentions.ts'
import { toDepthMeta } from '../stdio/depth.ts'
import { refuseTaint } from '../taint/taint.ts'
import type { AgentTool } from '../tools/agent-tools.ts'
import { hiddenBy } from '../tools/entry-filter.ts'
import type { DroppedTool } from '../tools/remote-tool.ts'
import { makeToolsReady } from './make-ready.ts'
import { throttledProgress } from './progress.ts'
import { createResourceTool } from './resource-tool.ts'
import { type ToolLists, toGroup } from './tool-lists.ts'

/** The dependencies of `mcpHook()`. */
export interface McpHookOptions {
  peers: Peers
  lists: ToolLists
  /** Milliseconds since 1970. */
  now(): number
  /** Whether servers whose tools are remembered start before they are called. */
  startsKnown: boolean
}

/** Creates the hook that offers the tools of an agent's MCP servers to its turns. */
export function mcpHook({ peers, lists, now, startsKnown }: McpHookOptions): Hook {
  /**
   * The tools each turn was offered, keyed by its agent object: lists and declarations may change while the
   * turn runs.
   */
  const offeredByAgent = new WeakMap<AgentConfig, OfferedTools>()
  /** The claims each turn started with, keyed by the signal that is aborted when the turn is over. */
  const claimsByTurn = new WeakMap<AbortSignal, readonly Claim[]>()
  /** The ids of the agents already notified of each list of tools that cannot be offered. */
  const reportedDrops = new WeakMap<readonly DroppedTool[], Set<string>>()
  const resources = createResourceTool(peers)
  const show = (agent: AgentConfig, claimed: readonly Claim[], pinned: OfferedTools['claimed']) => {
    const { tools, specs } = lists.get(agent, claimed)
    offeredByAgent.set(agent, { tools, claimed: pinned })
    return resources.addTo(specs, agent.id)
  }
  return {
    async onRegisterAgent(agent) {
      await peers.register(agent)
      startEager(peers, agent.id, startsKnown)
    },
    async onUnregisterAgent({ id }) {
      await peers.unregister(id)
      lists.forget(id)
    },
    async schema(agent, turn) {
      if (agent.mcps.length === 0 && !agent.invalidMcps) return resources.addTo([], agent.id)
      const pinned = turn.turnOver && claimsByTurn.get(turn.turnOver)
      if (pinned) return show(agent, pinned, pinned) // a repeated request of the same turn: it has already waited, and its notices are out
      // A turn that waited for its conversation may hold an older version of the agent: the last registration
      // counts.
      if (!peers.getClaims(agent.id) && (await peers.ensure(agent))) startEager(peers, agent.id, startsKnown)
      const takeDropped = (peer: Peer) => takeOnce(reportedDrops, peer.memory.newlyDropped, agent.id)
      const claimed = peers.getClaims(agent.id) ?? []
      const isPinned = turn.turnOver !== undefined && holdUntil(turn.turnOver, claimed)
      await makeToolsReady({ peers, agent, claimed, now, takeDropped }, turn)
      if (turn.turnOver && isPinned) claimsByTurn.set(turn.turnOver, claimed)
      return show(agent, claimed, isPinned ? claimed : undefined)
    },
    async preprocess(message, signal) {
      const { agent, content } = message
      if (agent.mcps.length === 0 || !MAY_NAME_RESOURCES.test(content)) return undefined
      if (!peers.getClaims(agent.id)) await peers.ensure(agent)
      return await expandResources(message, peers.getClaims(agent.id) ?? [], signal)
    },
    groups(agent) {
      const { tools = [], claimed } = offeredByAgent.get(agent) ?? {}
      return (claimed ?? peers.getClaims(agent.id) ?? []).map((claim) => toGroup(claim, tools))
    },
    describe(name, request) {
      if (name === resources.name) return resources.describe(name, request)
      const found = offeredByAgent.get(request.agent)?.tools.find((tool) => tool.name === name)
      return found && describe(found, request)
    },
    dispatch(name, call, signal) {
      if (name === resources.name) return resources.dispatch(name, call, signal)
      const claimed = offeredByAgent.get(call.agent)?.claimed ?? peers.getClaims(call.agent.id)
      return dispatch(followMovedComponents(claimed ?? [], peers), call, signal)
    },
  }
}

/** A cheap test that rules out most messages. */
const MAY_NAME_RESOURCES = /@[a-z0-9]/

interface OfferedTools {
  tools: readonly AgentTool[]
  /**
   * The claims the turn started with, kept until its end; undefined means that the current declarations
   * count.
   */
  claimed: readonly Claim[] | undefined
}

/**
 * Holds the servers a turn may call until the turn is over (ADR 0108). Returns false when it is over already.
 */
function holdUntil(over: AbortSignal, claimed: readonly Claim[]): boolean {
  if (over.aborted) return false
  const holds = claimed.map(({ peer }) => peer.hold())
  const releaseAll = () => {
    for (const one of holds) one[Symbol.dispose]()
  }
  over.addEventListener('abort', releaseAll, { once: true })
  return true
}

/**
 * Starts the servers of an agent in the background, except those with `start = "lazy"` and, without
 * `startsKnown`, those whose tools are remembered: they start when they are called.
 */
export function startEager(peers: Peers, agentId: string, startsKnown: boolean): void {
  for (const { peer, entry } of peers.getClaims(agentId) ?? []) {
    if (entry.start !== 'lazy' && (startsKnown || peer.list === undefined)) peer.start()
  }
}

async function describe({ name, entry, tool }: AgentTool, { args }: ToolRequest): Promise<PolicyAction> {
  checkArguments(tool, args)
  const project = getProjectServerFile(entry)
  return { kind: 'mcp', name, server: entry.name, tool: tool.name, ...(project && { project }) }
}

/** Returns the dropped tools the first time it is called for this agent, then an empty list. */
function takeOnce(
  reported: WeakMap<readonly DroppedTool[], Set<string>>,
  dropped: readonly DroppedTool[],
  agentId: string,
): readonly DroppedTool[] {
  const agents = reported.get(dropped) ?? new Set()
  if (agents.has(agentId)) return []
  reported.set(dropped, agents.add(agentId))
  return dropped
}

/** Makes a permitted call; returns undefined when the action is not a tool of one of the agent's servers. */
function dispatch(
  claimed: readonly Claim[],
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
  const result = await callAndNotify(what, call, signal)
  return introduceServer(result, what, call)
}

/**
 * Adds the instructions of a server to its first result in a conversation. They are the server's words, so
 * they stay inside a tool's result, in a tag that they cannot close (ADR 0215).
 */
function introduceServer(
  result: ToolOutput,
  { peer, entry: { name } }: Pick<ToolCallOptions, 'peer' | 'entry'>,
  { introduce }: Pick<ToolDispatch, 'introduce'>,
): ToolOutput {
  const instructions = peer.memory.about?.instructions ?? ''
  if (instructions === '' || !introduce(name)) return result
  const words = wrapInTag('server_instructions', { server: name }, instructions)
  const intro = `The MCP server "${name}" says of its tools, in its own words:`
  return { ...result, output: `${result.output}\n\n${intro}\n${words}`, introduces: [name] }
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
    ask: (questions, questionSignal) => ask(questions, 'elicitation', questionSignal),
  })
  const request = { ...what, agent: agent.name, args, spillDir, onProgress, elicit, meta: toDepthMeta(env) }
  const call = () => callTool(request, signal)
  return await withCallingTurn({ agent: agent.name, sender, runId }, call)
}

/**
 * Replaces claims on components by the current ones: a component that moved to another port is still the
 * same, so turns under way continue to use it there. Other servers stay as the turn started with them.
 */
function followMovedComponents(claimed: readonly Claim[], peers: Pick<Peers, 'getClaims'>): readonly Claim[] {
  const now = peers.getClaims(DISCOVERY.id)
  if (!now) return claimed
  return claimed.map((claim) => {
    const isComponent = getPortFile(claim.entry) !== undefined
    return (isComponent && now.find(({ entry }) => entry.name === claim.entry.name)) || claim
  })
}
