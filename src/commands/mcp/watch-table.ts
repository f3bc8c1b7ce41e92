import type { Command, CommandOption } from '../../cli/command.ts'
import {
  AGENT_OPTION as agent,
  JSON_OPTION as json,
  SERVER_SCOPE_OPTION as scope,
} from '../../cli/options.ts'

const { fallback: _, ...anyone } = agent
const anyAgent: CommandOption = { ...anyone, summary: 'Only the servers of this agent' }
const all: CommandOption = { name: 'all', summary: 'Include every agent' }
const jsonLines: CommandOption = { name: 'json', summary: 'Print one JSON object per line' }

/** The rows of the command table for watching MCP servers. */
export const MCP_WATCH_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'ps'],
    args: '',
    summary: 'List the servers that run in the daemon and what sharing saves',
    details: `Prints a row for each process or connection with all agents that use it. MEMORY includes the processes it has started,
LATENCY is the median of its last calls, STARTS is how often it was connected. Needs a daemon.`,
    options: [anyAgent, json],
    examples: ['crabtalk mcp ps', "crabtalk mcp ps --json | jq -r '.[].pid'"],
    needsDaemon: true,
    load: async () => (await import('./ps.ts')).listServerProcessesCommand,
  },
  {
    path: ['mcp', 'view'],
    args: '[agent]',
    kinds: ['agent'],
    summary: 'Show which servers an agent gets, and who decided that',
    details: `Lists the servers of the agent's file and of the files for this directory, each with what decided whether the agent gets
it, then the process, its owners, its health, and the rule that decides each tool. Without an agent, lists all processes with
their owners. Names of variables and headers are shown, values never. Starts nothing.`,
    options: [json],
    examples: ['crabtalk mcp view crab', 'crabtalk mcp view', 'crabtalk mcp view crab --json'],
    load: async () => (await import('./view.ts')).viewServersCommand,
  },
  {
    path: ['mcp', 'health'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Show the recent health of servers without starting them',
    details: `Shows since when each server is connected, when it last answered, its last error, and when it is retried. Exits with 69 when
a server that is not disabled has failed. Includes the servers of files for this directory.`,
    options: [agent, scope, all, json],
    examples: ['crabtalk mcp health', 'crabtalk mcp health --all || crabtalk mcp reconnect fs'],
    load: async () => (await import('./health.ts')).serverHealthCommand,
  },
  {
    path: ['mcp', 'doctor'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Check what keeps servers from working',
    details: `Starts each server of all agents and of the trusted files for this directory, lists its tools and ends it. Checks programs and
their versions, certificates, the clock and credentials, also of the service. Exits with 1 when there is a problem.`,
    options: [anyAgent, json],
    examples: [
      'crabtalk mcp doctor',
      'crabtalk mcp doctor fs',
      'crabtalk mcp doctor --agent reviewer --json',
    ],
    load: async () => (await import('../doctor/server-doctor.ts')).serverDoctorCommand,
  },
  {
    path: ['mcp', 'cost'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Show what the tools of servers cost in every request',
    details: `Estimates tokens, the most expensive first; with a name, for each tool of that server. Only tools that the agent gets
count, so include and exclude lower the cost. An agent with more than 40 tools starts with groups of them instead.`,
    options: [agent, all, json],
    examples: ['crabtalk mcp cost', 'crabtalk mcp cost fs', 'crabtalk mcp cost --all --json'],
    load: async () => (await import('./cost.ts')).serverCostCommand,
  },
  {
    path: ['mcp', 'logs'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Print what a server wrote to standard error',
    details: `Prints the last 200 lines, those of the daemon if one runs the server, otherwise those of earlier commands, which are kept in
logs/mcp of the home. Secrets that the server was given are hidden. --follow needs a daemon.`,
    options: [
      agent,
      scope,
      { name: 'follow', short: 'f', summary: 'Keep printing new lines until Ctrl+C' },
      { name: 'lines', short: 'n', value: 'N', fallback: 'all', summary: 'Only the last N lines' },
      { name: 'json', summary: 'Print JSON; with --follow one object per line' },
    ],
    examples: ['crabtalk mcp logs fs', 'crabtalk mcp logs -f -n 20 github'],
    load: async () => (await import('./logs.ts')).serverLogsCommand,
  },
  {
    path: ['mcp', 'reconnect'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Restart a server that runs in the daemon',
    details: `Without a name, restarts all servers of the agent that have failed. Also restarts a failed server that would be retried later. All agents that share it use the new one. Needs a daemon.`,
    options: [agent, scope, json],
    examples: ['crabtalk mcp reconnect fs', 'crabtalk mcp reconnect'],
    needsDaemon: true,
    load: async () => (await import('./reconnect.ts')).reconnectServerCommand,
  },
  {
    path: ['mcp', 'trace'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Print every message between the daemon and servers',
    details: `Prints the time, the direction (→ to the server), the server, the method, the id, how long the answer took, the turn it
belongs to, and the message, cut to the width of the terminal. Hides the secrets that the server was given (env, headers,
auth), but not others in arguments and answers. Without a name, prints all servers. Press Ctrl+C to end. Needs a daemon.`,
    options: [
      { ...anyAgent, summary: 'Only servers of this agent (default crab if a name is given)' },
      scope,
      { name: 'follow', short: 'f', summary: 'Has no effect: trace always follows' },
      { name: 'full', summary: 'Do not cut messages to the width of the terminal' },
      jsonLines,
    ],
    examples: [
      'crabtalk mcp trace -f fs',
      "crabtalk mcp trace --json | jq -c 'select(.duration_ms > 500) | [.method, .duration_ms, .agent]'",
    ],
    needsDaemon: true,
    load: async () => (await import('./trace.ts')).traceServersCommand,
  },
]
