import type { Command } from '../../cli/command.ts'

/** The row of the command table that both programs have for the background process. */
export const SUPERVISE_COMMANDS: readonly Command[] = [
  {
    path: ['supervise'],
    args: '[name]',
    summary: 'Keep the services of a home running; crabup starts it on systems without a service manager',
    options: [
      { name: 'home', value: 'DIR', summary: 'The home directory; CRABTALK_HOME by default' },
      { name: 'guard', summary: 'Only guard services that systemd or launchd runs' },
    ],
    examples: ['crabup supervise'],
    hidden: true,
    isAlone: true,
    load: async () => (await import('./supervise.ts')).superviseCommand,
  },
]
