import type { Command, CommandOption } from '../../cli/command.ts'
import {
  AGENT_OPTION as agent,
  JSON_OPTION as json,
  SERVER_SCOPE_OPTION as usedScope,
} from '../../cli/options.ts'
import { MCP_CATALOG_COMMANDS } from './catalog-table.ts'
import { MCP_IMPORT_COMMANDS } from './import-table.ts'
import { MCP_LOGIN_COMMANDS } from './login-table.ts'
import { MCP_RESOURCE_COMMANDS } from './resources-prompts-table.ts'
import { MCP_WATCH_COMMANDS } from './watch-table.ts'

const env: CommandOption = {
  name: 'env',
  short: 'e',
  value: 'KEY=VALUE',
  summary: 'Set an environment variable; KEY alone takes the value from your shell (repeatable)',
}
const remote: readonly CommandOption[] = [
  {
    name: 'header',
    value: "'NAME: VALUE'",
    summary: 'Send a header with every request to the address (repeatable)',
  },
  { name: 'auth', value: 'TOKEN', summary: 'Send TOKEN as the bearer token' },
  { name: 'auth-env', value: 'VAR', summary: 'Send the value of VAR in your shell as the bearer token' },
]
const noVerify: CommandOption = {
  name: 'no-verify',
  summary: 'Write the entry without starting the server first',
}

const scope: CommandOption = {
  name: 'scope',
  value: 'SCOPE',
  choices: ['user', 'project'],
  fallback: "the agent's file",
  summary: 'The mcp.toml for every agent: your own, or that of this project',
}

/** The rows of the command table for the MCP servers of agents. */
export const MCP_COMMANDS: readonly Command[] = [
  ...MCP_CATALOG_COMMANDS,
  {
    path: ['mcp', 'list'],
    args: '',
    summary: "List an agent's servers without starting them",
    details: `TOOLS is the number of tools that the agent gets, with the total when some are filtered out. The number is from the last time the server ran.`,
    options: [agent, { name: 'all', summary: 'Include every agent' }, json],
    examples: ['crabtalk mcp list', 'crabtalk mcp list --all --json'],
    load: async () => (await import('./list.ts')).listServersCommand,
  },
  {
    path: ['mcp', 'get'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Show the entry of a server, where it is written, and its state',
    options: [agent, usedScope, json],
    examples: ['crabtalk mcp get fs'],
    load: async () => (await import('./list.ts')).getServerCommand,
  },
  {
    path: ['mcp', 'add'],
    args: '<name> [command] [...args]',
    rawFrom: 1,
    summary: 'Add a server to an agent',
    details: `Starts the server and lists its tools before it writes the entry into the agent's file. Put options before COMMAND;
everything after it is passed to the server, also after --. Instead of COMMAND, give an address (https://…) for a remote
server, or an entry as JSON ({…}), as the pages of servers and the files of other programs show it; without NAME, all its
servers are added by their own names. \${VAR} in it is the variable of this shell. A program runs in the home directory of crabtalk
unless --cwd names another, so paths relative to this directory are written as absolute ones. With --scope the server is
not started, and values of variables are not written: -e TOKEN becomes \${TOKEN}.`,
    options: [
      agent,
      scope,
      env,
      {
        name: 'cwd',
        value: 'DIR',
        kind: 'folder',
        fallback: 'the home directory of crabtalk',
        summary: 'The working directory of the program',
      },
      ...remote,
      {
        name: 'transport',
        value: 'KIND',
        choices: ['http', 'sse', 'stdio'],
        fallback: 'http for an address, which falls back to sse',
        summary: 'The transport',
      },
      { name: 'set', value: 'KEY=VALUE', summary: 'Set a key of the entry; VALUE is TOML (repeatable)' },
      noVerify,
      json,
    ],
    examples: [
      'crabtalk mcp add fs -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
      'crabtalk mcp add -a reviewer -e GITHUB_TOKEN github -- github-mcp-server stdio',
      "crabtalk mcp add --header 'X-Team: core' --auth-env TRACKER_TOKEN tracker https://tracker.example.com/mcp",
      `crabtalk mcp add '{"mcpServers": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}}}'`,
      `crabtalk mcp add --set 'permissions.allow=["read_*"]' docs node ./server.js`,
    ],
    load: async () => (await import('./change.ts')).addServerCommand,
  },
  {
    path: ['mcp', 'set'],
    args: '<name> [...assignments]',
    kinds: ['server'],
    summary: 'Change keys of a server',
    details: `Values are TOML or plain text; key= removes a key, a.b=… sets a key of a table. Instead, give the whole entry as JSON, or - to
read it from standard input, as mcp get --json prints it: values that are hidden there stay as they are. The changed server is
started first; if that fails, nothing is written.`,
    options: [agent, scope, env, ...remote, noVerify, json],
    examples: [
      'crabtalk mcp set fs timeout_ms=5000',
      `crabtalk mcp set fs 'include=["read_*"]' permissions.deny=`,
      'crabtalk mcp set github -e GITHUB_TOKEN',
      'crabtalk mcp get fs --json | crabtalk mcp set fs -',
    ],
    load: async () => (await import('./change.ts')).setServerCommand,
  },
  {
    path: ['mcp', 'remove'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Remove a server from an agent',
    options: [agent, scope, json],
    examples: ['crabtalk mcp remove fs'],
    load: async () => (await import('./change.ts')).removeServerCommand,
  },
  {
    path: ['mcp', 'enable'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Enable a disabled server',
    options: [agent, scope, json],
    examples: ['crabtalk mcp enable fs'],
    load: async () => (await import('./change.ts')).enableServerCommand,
  },
  {
    path: ['mcp', 'disable'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Disable a server without removing it',
    options: [agent, scope, json],
    examples: ['crabtalk mcp disable fs'],
    load: async () => (await import('./change.ts')).disableServerCommand,
  },
  {
    path: ['mcp', 'ping'],
    args: '[...names]',
    kinds: ['server'],
    summary: 'Start servers and measure how long each takes to answer',
    details: `Without a name, pings all of the agent that are not disabled, or with --scope those of the files. Agents that declare the same server share its process. Exits with 69 when a
server cannot be reached.`,
    options: [agent, usedScope, { name: 'all', summary: 'Include every agent' }, json],
    examples: ['crabtalk mcp ping', 'crabtalk mcp ping fs github', 'crabtalk mcp ping --all'],
    load: async () => (await import('./start.ts')).pingServersCommand,
  },
  {
    path: ['mcp', 'tools'],
    args: '[...names]',
    kinds: ['server'],
    summary: 'List the tools of servers and the rules that apply to them',
    details: `Lists tools under the names that the model sees, with the effect of a call (allow, ask or deny) and the rule that
decides it. A tool that the agent does not get is listed as hidden, with the reason. Starts the servers.`,
    options: [agent, usedScope, json],
    examples: ['crabtalk mcp tools', 'crabtalk mcp tools fs --json | jq -r .[].name'],
    load: async () => (await import('./start.ts')).listToolsCommand,
  },
  {
    path: ['mcp', 'call'],
    args: '<name> <tool> [...arguments]',
    kinds: ['server'],
    summary: 'Call a tool',
    details: `Arguments are key=VALUE words: VALUE is text where the tool expects text, otherwise JSON or text. You can also pass one
JSON object, or - to read it from standard input. Prints the text of the result; exits with 5 when the tool reports a failure.
Deny rules apply here too. Calls that an agent would ask about run without asking, because you make them yourself.`,
    options: [
      agent,
      usedScope,
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        kind: 'file',
        summary: 'Write the images or files of the result, or its text if it has none',
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
  ...MCP_LOGIN_COMMANDS,
  ...MCP_WATCH_COMMANDS,
  {
    path: ['mcp', 'serve'],
    args: '',
    summary: 'Serve agents to other programs as an MCP server',
    details: `Speaks MCP on standard input and output with the program that starts it. Offers one tool for each agent, send_NAME, and
list_agents. Turns work in this directory. Permissions are asked through that program if it can ask its user, and
otherwise refused. Ends when its input ends.`,
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
  ...MCP_IMPORT_COMMANDS,
]
