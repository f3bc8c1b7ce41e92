import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json } from '../../cli/options.ts'
import { MCP_RESOURCE_COMMANDS } from './resources-prompts-table.ts'
import { MCP_WATCH_COMMANDS } from './watch-table.ts'

const env: CommandOption = {
  name: 'env',
  short: 'e',
  value: 'KEY=VALUE',
  summary: 'Set a variable of its environment; KEY alone takes the value it has here (repeatable)',
}
const remote: readonly CommandOption[] = [
  {
    name: 'header',
    value: "'NAME: VALUE'",
    summary: 'Send a header with every request to an address (repeatable)',
  },
  { name: 'auth', value: 'TOKEN', summary: 'Send this as its bearer token' },
  { name: 'auth-env', value: 'VAR', summary: 'The same, with the value that a variable has here' },
]
const noVerify: CommandOption = { name: 'no-verify', summary: 'Write it without starting the server first' }

/** The rows of the command table for the MCP servers of agents. */
export const MCP_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'list'],
    args: '',
    summary: "List an agent's servers, without starting any",
    details: `TOOLS is how many the agent gets, and of how many where that is not all, as far as that is known from the last time a
server ran.`,
    options: [agent, { name: 'all', summary: 'Those of every agent' }, json],
    examples: ['crabtalk mcp list', 'crabtalk mcp list --all --json'],
    load: async () => (await import('./list.ts')).listServersCommand,
  },
  {
    path: ['mcp', 'get'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Show a server: its entry, where that is written, and its state',
    options: [agent, json],
    examples: ['crabtalk mcp get fs'],
    load: async () => (await import('./list.ts')).getServerCommand,
  },
  {
    path: ['mcp', 'add'],
    args: '<name> <command> [...args]',
    rawFrom: 1,
    summary: 'Give an agent a server',
    details: `The server is started and its tools are listed; only then is it written into the agent's file. Options stand before
COMMAND, what follows it is the server's; -- may stand between. An address (https://…) in place of COMMAND is a remote
server, and {…} an entry as JSON, such as servers show on their pages. A program runs in the home directory of crabtalk unless --cwd names another, so paths that are relative to
this directory are written as absolute ones.`,
    options: [
      agent,
      env,
      {
        name: 'cwd',
        value: 'DIR',
        kind: 'folder',
        fallback: 'the home directory of crabtalk',
        summary: 'Where it runs',
      },
      ...remote,
      {
        name: 'transport',
        value: 'KIND',
        choices: ['http', 'sse', 'stdio'],
        fallback: 'http for an address, which falls back to sse',
        summary: 'How an address is spoken to',
      },
      { name: 'set', value: 'KEY=VALUE', summary: 'Set a key of its entry, VALUE as TOML (repeatable)' },
      noVerify,
      json,
    ],
    examples: [
      'crabtalk mcp add fs -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
      'crabtalk mcp add -a reviewer -e GITHUB_TOKEN github -- github-mcp-server stdio',
      "crabtalk mcp add --header 'X-Team: core' --auth-env TRACKER_TOKEN tracker https://tracker.example.com/mcp",
      `crabtalk mcp add fetch '{"command": "uvx", "args": ["mcp-server-fetch"]}'`,
      `crabtalk mcp add --set 'permissions.allow=["read_*"]' docs node ./server.js`,
    ],
    load: async () => (await import('./change.ts')).addServerCommand,
  },
  {
    path: ['mcp', 'set'],
    args: '<name> [...assignments]',
    kinds: ['server'],
    summary: 'Change keys of a server',
    details: `Values are TOML, or text; key= removes a key, a.b=… reaches into a table. The changed server is started first, and
nothing is written when that fails.`,
    options: [agent, env, ...remote, noVerify, json],
    examples: [
      'crabtalk mcp set fs timeout_ms=5000',
      `crabtalk mcp set fs 'include=["read_*"]' permissions.deny=`,
      'crabtalk mcp set github -e GITHUB_TOKEN',
    ],
    load: async () => (await import('./change.ts')).setServerCommand,
  },
  {
    path: ['mcp', 'remove'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Take a server away from an agent',
    options: [agent, json],
    examples: ['crabtalk mcp remove fs'],
    load: async () => (await import('./change.ts')).removeServerCommand,
  },
  {
    path: ['mcp', 'enable'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Let an agent use a server again',
    options: [agent, json],
    examples: ['crabtalk mcp enable fs'],
    load: async () => (await import('./change.ts')).enableServerCommand,
  },
  {
    path: ['mcp', 'disable'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Keep a server declared, and never start it',
    options: [agent, json],
    examples: ['crabtalk mcp disable fs'],
    load: async () => (await import('./change.ts')).disableServerCommand,
  },
  {
    path: ['mcp', 'ping'],
    args: '[...names]',
    kinds: ['server'],
    summary: 'Start servers, and say how long each takes',
    details: `Without a name all that are not disabled. Agents that declare the same server share its process. Exits 69 when one
cannot be reached.`,
    options: [agent, { name: 'all', summary: 'Those of every agent' }, json],
    examples: ['crabtalk mcp ping', 'crabtalk mcp ping fs github', 'crabtalk mcp ping --all'],
    load: async () => (await import('./start.ts')).pingServersCommand,
  },
  {
    path: ['mcp', 'tools'],
    args: '[...names]',
    kinds: ['server'],
    summary: 'List the tools of servers, and what the rules say of each',
    details: `Under the names that the model sees, with what becomes of a call: allow, ask or deny, and the rule behind it. A tool
that the agent does not get is listed as hidden, with the reason. The servers are started.`,
    options: [agent, json],
    examples: ['crabtalk mcp tools', 'crabtalk mcp tools fs --json | jq -r .[].name'],
    load: async () => (await import('./start.ts')).listToolsCommand,
  },
  {
    path: ['mcp', 'call'],
    args: '<name> <tool> [...arguments]',
    kinds: ['server'],
    summary: 'Call a tool',
    details: `Arguments are key=VALUE words, VALUE as text where the tool wants one, else as JSON or text; or
one JSON object, or - for one on standard input. The result's text is printed; a tool that reports a failure exits 5.
Rules that deny hold here too; what an agent would have to ask about is done, since you ask for it yourself.`,
    options: [
      agent,
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        kind: 'file',
        summary: 'Write the images or files of the result, or its text when there are none',
      },
      json,
    ],
    examples: [
      'crabtalk mcp call fs read_text_file path=/home/me/notes/today.md',
      `crabtalk mcp call fs search_files '{"path": "/home/me/notes", "pattern": "*.md"}'`,
      "jq -n '{a: 2, b: 3}' | crabtalk mcp call everything get-sum -",
    ],
    load: async () => (await import('./call.ts')).callToolCommand,
  },
  ...MCP_WATCH_COMMANDS,
  {
    path: ['mcp', 'serve'],
    args: '',
    summary: 'Serve agents to other programs, as an MCP server',
    details: `Speaks MCP on standard input and output, for the program that starts it: one tool for each agent, send_NAME, and
list_agents. Turns work in this directory; what needs permission is asked of that program's person where it can ask, and
refused elsewhere. Ends with its input.`,
    options: [
      {
        name: 'agent',
        short: 'a',
        value: 'NAME',
        kind: 'agent',
        summary: 'Offer only this agent (repeatable)',
      },
    ],
    examples: ['crabtalk mcp serve', 'crabtalk mcp serve --agent reviewer'],
    load: async () => (await import('./serve.ts')).serveAgentsCommand,
  },
  ...MCP_RESOURCE_COMMANDS,
]
