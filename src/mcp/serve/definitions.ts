import type { Tool } from '@modelcontextprotocol/server'
import type { ServedAgent } from './agent-tools.ts'

/** Defines the tool that sends to one agent. */
export function sendTool({ name, description, tool }: ServedAgent): Tool {
  const about = description === '' ? '' : `: ${description}`
  return {
    name: tool,
    title: `Ask ${name}`,
    description: `Sends a message to the agent "${name}"${about}. It works with tools of its own in the directory this server was started in, and answers when it is done, which can take minutes. It knows nothing of your conversation: the message has to say everything. To go on with an earlier exchange, give the conversation that its answer named.`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'What the agent is told, complete in itself' },
        conversation: {
          type: 'string',
          pattern: CONVERSATION.source,
          description:
            'Goes on with, or begins, the conversation of this name: up to 64 letters, digits, ".", "_" and "-". Without it a new one begins, whose name the answer has',
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
    'Searches what was said in past conversations of the agents; gives each match, marked with >, with what stands around it.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'Words to look for' },
      agent: { type: 'string', description: 'Only conversations of this agent' },
      limit: { type: 'integer', minimum: 1, maximum: 20, description: 'At most this many; 5 without it' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
}
