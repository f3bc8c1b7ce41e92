import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { OnAsk } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { DEPTH_VARIABLE, MAX_AGENT_DEPTH } from '../stdio/depth.ts'
import { type ServedAgent, toServedAgents } from './agent-tools.ts'
import { CONVERSATION, LIST_AGENTS, SEARCH_SESSIONS, sendTool } from './definitions.ts'
import { showSessions } from './found-sessions.ts'
import { type ServedTurn, startTurn } from './turn.ts'
import { toFailedCall } from './turn-record.ts'

/** What agents are served from. */
export interface ServedAgents {
  dispatch: Dispatch
  /** The agents that are offered; empty: all. */
  only: readonly string[]
  /** Where turns work; absolute. */
  cwd: string
  /** What tools that start programs get. */
  env: Readonly<Record<string, string>>
}

/** How a call was made. */
export interface HostCall {
  args: JsonObject
  /** How many agents called one another before. */
  depth: number
  /** Whether the host can put questions to its person. */
  canAsk: boolean
}

/** The agents that are offered, by name. Throws `missing` for one that is asked for and is not there. */
export async function listServed(
  { dispatch, only }: ServedAgents,
  signal: AbortSignal,
): Promise<ServedAgent[]> {
  const begin = request(dispatch, 'getAgent', { name: DEFAULT_AGENT }, signal) // so that it is there to be offered
  await begin.catch(() => undefined) // its file is broken: the others are offered
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const names = agents.map(({ name }) => name)
  const unknown = only.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new CrabError('missing', `Cannot offer the agent "${unknown}": there is none of that name`, {
      hint: didYouMean(unknown, names) ?? `there are ${names.join(', ')}`,
    })
  }
  return toServedAgents(agents.filter(({ name }) => only.length === 0 || only.includes(name)))
}

/** The tools of a host: one for each agent, the list of agents, and the search. */
export function toServedTools(agents: readonly ServedAgent[]): Tool[] {
  return [...agents.map(sendTool), LIST_AGENTS, SEARCH_SESSIONS]
}

/** What a call began: a turn of an agent, or an answer at once. */
export type StartedCall = { turn: ServedTurn; agent: string } | { result: CallToolResult }

/** Begins what a call asks for. Undefined for a tool that is not there. */
export async function beginCall(
  served: ServedAgents,
  tool: string,
  call: HostCall,
  signal: AbortSignal,
): Promise<StartedCall | undefined> {
  try {
    if (tool === SEARCH_SESSIONS.name) return { result: await searchSessions(served, call.args, signal) }
    const agents = await listServed(served, signal)
    if (tool === LIST_AGENTS.name) return { result: showAgents(agents) }
    const agent = agents.find((one) => one.tool === tool)?.name
    return agent === undefined ? undefined : { agent, turn: sendTo(served, agent, call) }
  } catch (reason) {
    return { result: toFailedCall(reason) }
  }
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
    throw new CrabError('invalid', `${what}: "conversation" is no name`, {
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
    content: [{ type: 'text', text: lines.join('\n') || 'There are no agents.' }],
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
    throw new CrabError('denied', `${what}: "agent" has to be one of ${only.join(', ')}`)
  }
  const query = readTextArgument(args, 'query', what)
  if (query === undefined) throw new CrabError('invalid', `${what}: "query" is missing`)
  const most = typeof limit === 'number' && limit > 0 ? Math.floor(limit) : HITS
  const wanted = { query, agent, limit: most, contextBefore: AROUND, contextAfter: AROUND }
  return showSessions(await request(dispatch, 'searchSessions', wanted, signal), query)
}

/** Conversations that a host gets unless it asks for another number, and messages on either side of each match. */
const HITS = 5
const AROUND = 2

/** A text among the arguments. Throws `invalid` for what is none. */
function readTextArgument(args: JsonObject, name: string, what: string): string | undefined {
  const value = args[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new CrabError('invalid', `${what}: "${name}" is no text`)
}

/**
 * Before the name of a conversation: senders of programs that the person at this machine runs (decision 29), and of no
 * other program's conversations.
 */
const SENDER = 'sh:mcp:'
