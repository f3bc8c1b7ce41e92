import type { Command, CommandOption } from '../../../cli/command.ts'
import { JSON_OPTION } from '../../../cli/options.ts'
import { SERVICE_PLACEHOLDER } from '../../../cli/service-rows.ts'

const DRY_RUN: CommandOption = {
  name: 'dry-run',
  summary: 'Print the unit and the commands, and change nothing',
}
const NOW: CommandOption = { name: 'now', summary: 'Cut turns that run, instead of waiting for them' }
const YES: CommandOption = { name: 'yes', short: 'y', summary: 'Write a unit that was edited without asking' }

/** The commands that act on one service. */
export const SERVICE_COMMANDS: readonly Command[] = [
  {
    path: [SERVICE_PLACEHOLDER, 'start'],
    args: '',
    summary: 'Run it now, keep it running, and start it at login',
    details: `Writes its unit where it differs, and returns when the service answers. One that runs already is left alone. What keeps it
running is systemd, launchd, the Task Scheduler, or crabup itself where there is none of them; it says which.

The service gets the PATH of this shell, without temporary and project directories, and of its variables none: keys belong
in service.env. The daemon asks for a model where there is none yet. Exits 69 when the service does not answer within 15 s,
and 78 when the configuration is wrong; then nothing was changed.`,
    options: [DRY_RUN, NOW, YES],
    examples: ['crabup daemon start', 'crabup daemon start --dry-run'],
    load: async () => (await import('./start.ts')).startServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'stop'],
    args: '',
    summary: 'End it; it stays installed',
    details: 'Returns when its processes are gone. It starts again at login, unless that is disabled.',
    options: [DRY_RUN],
    examples: ['crabup daemon stop'],
    load: async () => (await import('./stop.ts')).stopServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'restart'],
    args: '',
    summary: 'End it once its turns have ended, and start it again',
    details: `Turns that run are waited for, at most 60 s; on a terminal you are asked. What was said is kept in any case. The unit is
written anew where it differs, so this is what makes a new PATH, an update or a new key count.`,
    options: [DRY_RUN, NOW, YES],
    examples: ['crabup daemon restart', 'crabup daemon restart --now'],
    load: async () => (await import('./restart.ts')).restartServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'status'],
    args: '',
    summary: 'Show it: whether it is ready, where it is, what it said last',
    details: 'Exits 0 when it is ready, 3 when it does not run, 69 when it runs and does not answer.',
    options: [JSON_OPTION],
    examples: ['crabup daemon status', 'crabup daemon status --json'],
    load: async () => (await import('./status.ts')).showServiceStatusCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'enable'],
    args: '',
    summary: 'Have it start at login',
    details: 'Whether it runs now stays as it is. Exits 69 where nothing can start at login.',
    options: [DRY_RUN, YES],
    examples: ['crabup daemon enable'],
    load: async () => (await import('./at-login.ts')).enableServiceCommand,
  },
  {
    path: [SERVICE_PLACEHOLDER, 'disable'],
    args: '',
    summary: 'Have it not start at login',
    details: 'What runs, runs on.',
    options: [DRY_RUN],
    examples: ['crabup daemon disable'],
    load: async () => (await import('./at-login.ts')).disableServiceCommand,
  },
]
