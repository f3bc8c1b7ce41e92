import type { Tool } from '@modelcontextprotocol/server'
import { sha256 } from '../../core/base/sha256.ts'
import type { AgentInfo } from '../../core/protocol/crabtalk.generated.ts'

/** Defines the tool that sends to one agent. */
export function sendTool({ name, description, tool }: ServedAgent): Tool {
  const about = description === '' ? '' : `: ${description}`
  return {
    name: tool,
    title: `Ask ${name}`,
    description: `Sends a message to the agent "${name}"${about}. It works with its own tools in the directory in which this server was started and answers when it is done, which can take minutes. It does not see your conversation, so the message must be complete. To continue an earlier exchange, pass the conversation named in its answer.`,
    inputSchema: {
      type: 'object',
      properties: {
        message: {
          type: 'string',
          minLength: 1,
          description: 'The message to the agent, complete in itself',
        },
        conversation: {
          type: 'string',
          pattern: CONVERSATION.source,
          description:
            'Continues or starts the conversation with this name: up to 64 letters, digits, ".", "_" and "-". Without it a new one is started, and the answer has its name',
        },
      },
      required: ['message'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, openWorldHint: true },
  }
}

/** The conversation names that a host may use. */
export const CONVERSATION = /^[A-Za-z0-9._-]{1,64}$/

/** The tool that lists agents. */
export const LIST_AGENTS: Tool = {
  name: 'list_agents',
  title: 'List agents',
  description: 'Lists the agents that can be asked, each with its description and the tool that asks it.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { readOnlyHint: true },
}

/** The tool that searches past conversations. */
export const SEARCH_SESSIONS: Tool = {
  name: 'search_sessions',
  title: 'Search conversations',
  description:
    'Searches past conversations of the agents; returns each match, marked with >, with the messages around it.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'The words to search for' },
      agent: { type: 'string', description: 'Only conversations of this agent' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 20,
        description: 'The maximum number of matches; 5 by default',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
}

/** An agent that is offered as a tool. */
export interface ServedAgent {
  name: string
  description: string
  /** Empty for the default model. */
  model: string
  /** The name of its tool. */
  tool: string
}

/**
 * Sorts the agents and names their tools `send_<agent>`, of `[A-Za-z0-9_-]` and at most 48 characters,
 * because hosts put the server's name before them; where that loses characters, a hash keeps the names
 * unique.
 */
export function toServedAgents(agents: readonly AgentInfo[]): ServedAgent[] {
  const sorted = agents.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const usedNames = new Set<string>()
  return sorted.map(({ name, description, model }) => {
    const tool = toToolName(name, usedNames)
    usedNames.add(tool)
    return { name, description, model, tool }
  })
}

function toToolName(agent: string, usedNames: ReadonlySet<string>): string {
  const folded = agent.replace(/[^A-Za-z0-9_-]/gu, '_')
  const name = `send_${folded}`
  if (folded === agent && name.length <= MAX_LENGTH && !usedNames.has(name)) return name
  const hash = sha256(agent).toString('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}

const MAX_LENGTH = 48
const HASH_LENGTH = 8
