import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json } from '../../cli/options.ts'

const { fallback: _, ...anyone } = agent
const anyAgent: CommandOption = { ...anyone, summary: 'Only what this agent uses' }
const all: CommandOption = { name: 'all', summary: 'Those of every agent' }
const jsonLines: CommandOption = { name: 'json', summary: 'Print one JSON object per line' }

/** The rows of the command table for watching MCP servers. */
export const MCP_WATCH_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'ps'],
    args: '',
    summary: 'List the servers that run in the daemon, and what sharing them saves',
    details: `A row for each process or connection, with all agents that use it. MEMORY is that of the process and what it has started,
LATENCY the median of its last calls, STARTS how often it was connected. Needs a daemon.`,
    options: [anyAgent, json],
    examples: ['crabtalk mcp ps', "crabtalk mcp ps --json | jq -r '.[].pid'"],
    load: async () => (await import('./ps.ts')).listServerProcessesCommand,
  },
  {
    path: ['mcp', 'health'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Say how servers did lately, without starting any',
    details: `Since when each is connected, when it last answered, what went wrong last, and when it is tried again. Exits 69 when one
that is not disabled has failed.`,
    options: [agent, all, json],
    examples: ['crabtalk mcp health', 'crabtalk mcp health --all || crabtalk mcp reconnect fs'],
    load: async () => (await import('./health.ts')).serverHealthCommand,
  },
  {
    path: ['mcp', 'cost'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Say what the tools of servers cost in every request',
    details: `In tokens, estimated, dearest first; with a name for each tool of that server. Only tools that the agent gets count:
include and exclude make it cheaper. An agent with more than 40 tools begins with groups of them instead.`,
    options: [agent, all, json],
    examples: ['crabtalk mcp cost', 'crabtalk mcp cost fs', 'crabtalk mcp cost --all --json'],
    load: async () => (await import('./cost.ts')).serverCostCommand,
  },
  {
    path: ['mcp', 'logs'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Print what a server wrote to standard error',
    details: `Of the last 200 lines, which the daemon keeps, without the secrets that were given to the server. Needs a daemon.`,
    options: [
      agent,
      { name: 'follow', short: 'f', summary: 'Go on with what it writes, until Ctrl-C' },
      { name: 'lines', short: 'n', value: 'N', fallback: 'all', summary: 'Only the last N lines' },
      { name: 'json', summary: 'Print JSON; with --follow one object per line' },
    ],
    examples: ['crabtalk mcp logs fs', 'crabtalk mcp logs -f -n 20 github'],
    load: async () => (await import('./logs.ts')).serverLogsCommand,
  },
  {
    path: ['mcp', 'reconnect'],
    args: '<name>',
    kinds: ['server'],
    summary: 'End a server that runs in the daemon, and start it again',
    details: `Also one that is not tried again yet since it failed. All agents that share it get the new one. Needs a daemon.`,
    options: [agent, json],
    examples: ['crabtalk mcp reconnect fs'],
    load: async () => (await import('./reconnect.ts')).reconnectServerCommand,
  },
  {
    path: ['mcp', 'trace'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Print every message between the daemon and servers, as it passes',
    details: `When, which way (→ to the server), the server, the method, the id, how long an answer took, whose turn it belongs to, and
the message, cut to the width of a terminal. Secrets that the server was given itself (env, headers, auth) are hidden; others
in arguments and answers are not. Of all servers without a name. Ends with Ctrl-C. Needs a daemon.`,
    options: [
      { ...anyAgent, summary: 'Only servers of this agent (with a name: crab)' },
      { name: 'follow', short: 'f', summary: 'Go on until Ctrl-C, as it does in any case' },
      { name: 'full', summary: 'Whole messages on a terminal, too' },
      jsonLines,
    ],
    examples: [
      'crabtalk mcp trace -f fs',
      "crabtalk mcp trace --json | jq -c 'select(.duration_ms > 500) | [.method, .duration_ms, .agent]'",
    ],
    load: async () => (await import('./trace.ts')).traceServersCommand,
  },
]
