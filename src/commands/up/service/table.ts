import type { Command, CommandOption } from '../../../cli/command.ts'
import { JSON_OPTION } from '../../../cli/options.ts'
import { SERVICE_PLACEHOLDER } from '../../../cli/service-rows.ts'

const DRY_RUN: CommandOption = {
  name: 'dry-run',
  summary: 'Print the unit and the commands without changing anything',
}
const NOW: CommandOption = { name: 'now', summary: 'Cancel running turns instead of waiting for them' }
const YES: CommandOption = { name: 'yes', short: 'y', summary: 'Rewrite an edited unit without asking' }

/** The commands that act on one service. */
export const SERVICE_COMMANDS: readonly Command[] = [
  {
    path: [SERVICE_PLACEHOLDER, 'start'],
    args: '',
    summary: 'Start the service, keep it running, and start it at login',
    details: `Writes the unit if it changed, and returns when the service answers. A service that is already running is left alone. systemd,
launchd or the Task Scheduler keeps it running, or crabup itself on a system without them; the output says which.

The service gets the PATH of this shell, without temporary and project directories, and none of its other variables: put keys
into service.env. daemon start asks for a model if none is set up. Exits with 69 when the service does not answer within 15 s, and 78
when the configuration is invalid; nothing is changed then.`,
    options: [DRY_RUN, NOW, YES],
    examples: ['crabup daemon start', 'crabup daemon start --dry-run'],
    load: async () => (await import('./start.ts')).startServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'stop'],
    args: '',
    summary: 'Stop the service; it stays installed',
    details: 'Returns when its processes have ended. It starts again at login unless that is disabled.',
    options: [DRY_RUN],
    examples: ['crabup daemon stop'],
    load: async () => (await import('./stop.ts')).stopServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'restart'],
    args: '',
    summary: 'Stop the service when its turns have ended, and start it again',
    details: `Waits for running turns, at most 60 s; on a terminal it asks. Messages are kept either way. Rewrites the unit if it changed:
run this after a change of the PATH, of the program or of a key.`,
    options: [DRY_RUN, NOW, YES],
    examples: ['crabup daemon restart', 'crabup daemon restart --now'],
    load: async () => (await import('./restart.ts')).restartServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'status'],
    args: '',
    summary: 'Show whether the service is ready, where it runs and its last log lines',
    details: 'Exits with 0 when it is ready, 3 when it is not running, 69 when it runs but does not answer.',
    options: [JSON_OPTION],
    examples: ['crabup daemon status', 'crabup daemon status --json'],
    load: async () => (await import('./status.ts')).showServiceStatusCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'enable'],
    args: '',
    summary: 'Start the service at login',
    details: 'Does not start or stop it now. Exits with 69 on a system that cannot start services at login.',
    options: [DRY_RUN, YES],
    examples: ['crabup daemon enable'],
    load: async () => (await import('./at-login.ts')).enableServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'disable'],
    args: '',
    summary: 'Do not start the service at login',
    details: 'A running service keeps running.',
    options: [DRY_RUN],
    examples: ['crabup daemon disable'],
    load: async () => (await import('./at-login.ts')).disableServiceCommand,
  },
]
