import type { Command } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json } from '../../cli/options.ts'

/** The rows of the command table for the resources and prompts of servers. */
export const MCP_RESOURCE_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'resources'],
    args: '[name]',
    kinds: ['server'],
    summary: 'List the resources of servers',
    details: `Without a name, lists those of all servers that are not disabled. An address with {braces} is a template: fill them in.
Starts the servers.`,
    options: [agent, json],
    examples: ['crabtalk mcp resources', 'crabtalk mcp resources everything --json | jq -r .[].uri'],
    load: async () => (await import('./resources.ts')).listResourcesCommand,
  },
  {
    path: ['mcp', 'read'],
    args: '<name> <uri>',
    kinds: ['server'],
    summary: 'Read a resource',
    details: 'URI is the address of the resource, or its name as listed by crabtalk mcp resources.',
    options: [
      agent,
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        kind: 'file',
        summary: 'Write the images or files of the resource, or its text if it has none',
      },
      json,
    ],
    examples: [
      'crabtalk mcp read everything demo://resource/static/document/features.md',
      'crabtalk mcp read -O features.md everything demo://resource/static/document/features.md',
    ],
    load: async () => (await import('./resources.ts')).readResourceCommand,
  },
  {
    path: ['mcp', 'prompts'],
    args: '[name]',
    kinds: ['server'],
    summary: 'List the prompts of servers',
    details: 'In a chat, each is a command: /NAME:PROMPT. Starts the servers.',
    options: [agent, json],
    examples: ['crabtalk mcp prompts', 'crabtalk mcp prompts everything'],
    load: async () => (await import('./prompts.ts')).listPromptsCommand,
  },
  {
    path: ['mcp', 'prompt'],
    args: '<name> <prompt> [...arguments]',
    kinds: ['server'],
    summary: 'Show a prompt with its arguments filled in',
    details: 'Arguments are key=VALUE words. Send the output with: crabtalk mcp prompt … | crabtalk send.',
    options: [agent, json],
    examples: ['crabtalk mcp prompt everything args-prompt city=Paris'],
    load: async () => (await import('./prompts.ts')).getPromptCommand,
  },
]
