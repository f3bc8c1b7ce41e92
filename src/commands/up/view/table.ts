import type { Command, CommandOption } from '../../../cli/command.ts'
import { JSON_OPTION } from '../../../cli/options.ts'
import { SERVICE_PLACEHOLDER } from '../../../cli/service-rows.ts'

const LOG_OPTIONS: readonly CommandOption[] = [
  { name: 'follow', short: 'f', summary: 'Go on with what they write, until Ctrl-C' },
  {
    name: 'lines',
    short: 'n',
    value: 'N',
    fallback: '50, or all with --since',
    summary: 'Only the last N lines',
  },
  { name: 'since', value: 'WHEN', summary: 'Only what was written since: 10m, 2h, 3d, or a date' },
  { name: 'json', summary: 'Print one JSON object per line' },
]
const LOG_DETAILS = `Its log, what it printed besides, and what the service manager says of it. On a terminal with time, level and fields; in a pipe
each line as it stands in its file.`

/** The commands that show services and change nothing. */
export const VIEW_COMMANDS: readonly Command[] = [
  {
    path: ['ps'],
    args: '',
    summary: 'List the services, and how they are',
    details: `What the service manager says, what each service answers when it is asked, and what the system says of its
processes. A service is ready, starting, degraded (it runs and does not answer), crashed, stopped, disabled (it does not start
at login), foreign (something else answers in its place) or stale (only a file is left of it, which is removed). MEMORY is that
of a service and all it has started.`,
    options: [
      JSON_OPTION,
      { name: 'watch', short: 'w', summary: 'Look every two seconds until q; with --json an object a line' },
    ],
    examples: ['crabup ps', "crabup ps --json | jq -r '.services[].name'"],
    load: async () => (await import('./ps.ts')).listServicesCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'logs'],
    args: '',
    summary: 'Print what the service wrote',
    details: LOG_DETAILS,
    options: LOG_OPTIONS,
    examples: ['crabup daemon logs -n 20', 'crabup daemon logs --since 2h | grep \'"warn"\''],
    load: async () => (await import('./logs.ts')).oneServiceLogsCommand,
  },
  {
    path: ['doctor'],
    args: '',
    summary: 'Look for what is wrong with this installation and its services',
    details: `What crabtalk doctor looks at, and besides: the service manager, every service and its unit, secrets that only this shell has,
programs of MCP servers that a service does not find, logs that grow, Node and npm for components. --fix makes files of yours
readable for you only and removes what services left in run/; everything else it only says. Exits 1 when there is a problem.`,
    options: [
      { name: 'deep', summary: 'Start the MCP servers too' },
      { name: 'fix', summary: 'Mend what can be mended without a question' },
      JSON_OPTION,
    ],
    examples: ['crabup doctor', "crabup doctor --json | jq -r '.checks[].message'"],
    load: async () => (await import('../doctor/doctor.ts')).crabupDoctorCommand,
  },
  {
    path: ['logs'],
    args: '[...names]',
    kinds: ['service'],
    summary: 'Print what services wrote, by time',
    details: `Of all services without a name. ${LOG_DETAILS}`,
    options: LOG_OPTIONS,
    examples: ['crabup logs', 'crabup logs daemon cron --since yesterday --json'],
    load: async () => (await import('./logs.ts')).serviceLogsCommand,
  },
]
