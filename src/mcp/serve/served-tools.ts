import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { OnAsk } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { DEPTH_VARIABLE, MAX_AGENT_DEPTH } from '../stdio/depth.ts'
import { toFailedCall } from './call-result.ts'
import {
  CONVERSATION,
  LIST_AGENTS,
  SEARCH_SESSIONS,
  type ServedAgent,
  sendTool,
  toServedAgents,
} from './definitions.ts'
import { showSessions } from './found-sessions.ts'
import { type ServedTurn, startTurn } from './turn.ts'

/** The agents to serve, and the context of their turns. */
export interface ServedAgents {
  dispatch: Dispatch
  /** The names of the agents that are offered; empty for all. */
  only: readonly string[]
  /** The working directory of turns; absolute. */
  cwd: string
  /** The environment of programs that tools start. */
  env: Readonly<Record<string, string>>
  /** Receives the issues of agent files that cannot be offered. */
  onIssues?(issues: readonly string[]): void
}

/** A tool call of a host. */
export interface HostCall {
  args: JsonObject
  /** The depth of nested agent calls before this one. */
  depth: number
  /** Whether the host can ask its user. */
  canAsk: boolean
}

/** Lists the offered agents by name. Throws `missing` when one of `only` does not exist. */
export async function listServed(
  { dispatch, only, onIssues }: ServedAgents,
  signal: AbortSignal,
): Promise<ServedAgent[]> {
  const defaultAgent = request(dispatch, 'getAgent', { name: DEFAULT_AGENT }, signal) // creates the default agent, so that it can be offered
  await defaultAgent.catch(() => undefined) // its file is broken: the other agents are still offered
  const { agents, problems } = await request(dispatch, 'listAgents', {}, signal)
  onIssues?.(problems)
  const names = agents.map(({ name }) => name)
  const unknown = only.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new CrabError('missing', `Cannot offer the agent "${unknown}": no agent has that name`, {
      hint: didYouMean(unknown, names) ?? `the agents are ${names.join(', ')}`,
    })
  }
  return toServedAgents(agents.filter(({ name }) => only.length === 0 || only.includes(name)))
}

/** Defines the tools for a host: one for each agent, the list of agents, and the search. */
export function toServedTools(agents: readonly ServedAgent[]): Tool[] {
  return [...agents.map(sendTool), LIST_AGENTS, SEARCH_SESSIONS]
}

/** A started call: a turn of an agent, or an immediate result. */
export type StartedCall = { turn: ServedTurn; agent: string } | { result: CallToolResult }

/** Starts a call. Returns undefined for an unknown tool. */
export async function beginCall(
  served: ServedAgents,
  tool: string,
  call: HostCall,
  signal: AbortSignal,
): Promise<StartedCall | undefined> {
  try {
    if (tool === SEARCH_SESSIONS.name) {
      refuseUnknown('Cannot search', call.args, SEARCH_SESSIONS)
      return { result: await searchSessions(served, call.args, signal) }
    }
    const agents = await listServed(served, signal)
    if (tool === LIST_AGENTS.name) {
      refuseUnknown('Cannot list the agents', call.args, LIST_AGENTS)
      return { result: showAgents(agents) }
    }
    const agent = agents.find((one) => one.tool === tool)
    if (agent === undefined) return undefined
    refuseUnknown(`Cannot ask ${agent.name}`, call.args, sendTool(agent))
    return { agent: agent.name, turn: sendTo(served, agent.name, call) }
  } catch (reason) {
    return { result: toFailedCall(reason) }
  }
}

/** Throws `invalid` for an argument that the tool does not have, such as a misspelled one. */
function refuseUnknown(what: string, args: JsonObject, { inputSchema }: Tool): void {
  const known = Object.keys(inputSchema.properties ?? {})
  const unknown = Object.keys(args).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const takes = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
  throw new CrabError('invalid', `${what}: unknown argument ${JSON.stringify(unknown)}`, {
    hint: didYouMean(unknown, known) ?? takes,
  })
}

function sendTo(
  { dispatch, cwd, env }: ServedAgents,
  agent: string,
  { args, depth, canAsk }: HostCall,
): ServedTurn {
  const what = `Cannot ask ${agent}`
  if (depth >= MAX_AGENT_DEPTH) {
    throw new CrabError('denied', `${what}: agents have called one another ${depth} deep already`, {
      hint: 'answer with what is known',
    })
  }
  const message = readTextArgument(args, 'message', what)
  if (message === undefined) throw new CrabError('invalid', `${what}: "message" is missing`)
  const conversation = readTextArgument(args, 'conversation', what) ?? newUlid()
  if (!CONVERSATION.test(conversation)) {
    throw new CrabError('invalid', `${what}: "conversation" is not a valid name`, {
      hint: 'up to 64 letters, digits, ".", "_" and "-"',
    })
  }
  return startTurn({
    dispatch,
    conversation,
    message: {
      agent,
      content: message,
      sender: `${SENDER}${conversation}`,
      cwd,
      options: {
        onAsk: canAsk ? OnAsk.CLIENT : OnAsk.DENY,
        env: { ...env, [DEPTH_VARIABLE]: String(depth + 1) },
      },
    },
  })
}

function showAgents(agents: readonly ServedAgent[]): CallToolResult {
  const lines = agents.map(
    ({ name, description, tool }) => `${name} (${tool}): ${description || 'no description'}`,
  )
  return {
    content: [{ type: 'text', text: lines.join('\n') || 'No agents.' }],
    structuredContent: { agents: agents.map((agent) => ({ ...agent })) },
  }
}

async function searchSessions(
  { dispatch, only }: ServedAgents,
  args: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const what = 'Cannot search'
  const { limit } = args
  const agent = readTextArgument(args, 'agent', what) ?? (only.length === 1 ? only[0]! : '')
  if (only.length > 0 && !only.includes(agent)) {
    throw new CrabError('denied', `${what}: "agent" must be one of ${only.join(', ')}`)
  }
  const query = readTextArgument(args, 'query', what)
  if (query === undefined) throw new CrabError('invalid', `${what}: "query" is missing`)
  const maxHits = typeof limit === 'number' && limit > 0 ? Math.floor(limit) : HITS
  const searchRequest = { query, agent, limit: maxHits, contextBefore: AROUND, contextAfter: AROUND }
  return showSessions(await request(dispatch, 'searchSessions', searchRequest, signal), query)
}

/** The default number of conversations found, and the messages on either side of each match. */
const HITS = 5
const AROUND = 2

/** Reads a string argument. Throws `invalid` for any other type. */
function readTextArgument(args: JsonObject, name: string, what: string): string | undefined {
  const value = args[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new CrabError('invalid', `${what}: "${name}" is not a string`)
}

/**
 * The prefix of the sender, before the name of the conversation. `sh:` makes its turns local (ADR 0119), and
 * `mcp:` keeps its conversations apart from those of other programs.
 */
const SENDER = 'sh:mcp:'
