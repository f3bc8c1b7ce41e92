import type { Command, CommandOption } from '../../../cli/command.ts'
import { JSON_OPTION } from '../../../cli/options.ts'
import { SERVICE_PLACEHOLDER } from '../../../cli/service-rows.ts'

const LOG_OPTIONS: readonly CommandOption[] = [
  { name: 'follow', short: 'f', summary: 'Keep printing new lines until Ctrl+C' },
  {
    name: 'lines',
    short: 'n',
    value: 'N',
    fallback: '50, or all with --since',
    summary: 'Print only the last N lines',
  },
  { name: 'since', value: 'WHEN', summary: 'Print only lines written since then: 10m, 2h, 3d, or a date' },
  { name: 'json', summary: 'Print one JSON object per line' },
]
const LOG_DETAILS = `Prints the log, other printed output, and the messages of the service manager. On a terminal, lines show time, level and fields;
in a pipe, each line is as in its file, after the name of its service if there are several.`

/** The commands that show services and change nothing. */
export const VIEW_COMMANDS: readonly Command[] = [
  {
    path: ['ps'],
    args: '',
    summary: 'List the services and their states',
    details: `Combines what the service manager reports, what each service answers to a probe, and what the system knows about its
processes. A service is ready, starting, degraded (it runs but does not answer), crashed, stopped, disabled (it does not start
at login), foreign (another program answers in its place) or stale (only a file is left, which is removed). MEMORY includes the
processes that a service has started.`,
    options: [
      JSON_OPTION,
      {
        name: 'watch',
        short: 'w',
        summary: 'Refresh every two seconds until you press q; with --json, one object per line',
      },
    ],
    examples: ['crabup ps', "crabup ps --json | jq -r '.services[].name'"],
    load: async () => (await import('./ps.ts')).listServicesCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'logs'],
    args: '',
    summary: 'Print the logs of the service',
    details: LOG_DETAILS,
    options: LOG_OPTIONS,
    examples: ['crabup daemon logs -n 20', 'crabup daemon logs --since 2h | grep \'"warn"\''],
    load: async () => (await import('./logs.ts')).oneServiceLogsCommand,
  },
  {
    path: ['doctor'],
    args: '',
    summary: 'Check this installation and its services for problems',
    details: `Checks everything that crabtalk doctor checks, and also: the service manager, every service and its unit, secrets that only this
shell has, programs of MCP servers that a service does not find, growing logs, and Node and npm for components. --fix makes files
readable only by you and removes what services left in run/; everything else is only reported. Exits with 1 when there is a problem.`,
    options: [
      { name: 'deep', summary: 'Start the MCP servers too' },
      { name: 'fix', summary: 'Fix what can be fixed without asking' },
      JSON_OPTION,
    ],
    examples: ['crabup doctor', "crabup doctor --json | jq -r '.checks[].message'"],
    load: async () => (await import('../doctor/doctor.ts')).crabupDoctorCommand,
  },
  {
    path: ['logs'],
    args: '[...names]',
    kinds: ['service'],
    summary: 'Print the logs of services, by time',
    details: `Without a name, includes all services. ${LOG_DETAILS}`,
    options: LOG_OPTIONS,
    examples: ['crabup logs', 'crabup logs daemon cron --since yesterday --json'],
    load: async () => (await import('./logs.ts')).serviceLogsCommand,
  },
]
