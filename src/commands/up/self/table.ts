import type { Command } from '../../../cli/command.ts'
import { YES_OPTION } from '../../../cli/options.ts'

/** The commands that update the program or remove what it installed. */
export const SELF_COMMANDS: readonly Command[] = [
  {
    path: ['self', 'update'],
    args: '',
    summary: 'Replace this program with another version',
    details: `Takes the newest release from npm, or a file: a release archive or the program from one. A file needs a checksum, from
SHA256SUMS or FILE.sha256 beside it or from --sha256. The new program must run commands in an empty home before it replaces
this one, which is kept beside it as crabtalk.old; crabtalk.old self update --rollback works even if the new program does not.
Running services keep using the program they were started with until you restart them; with --restart, a failed restart
restores the previous program.`,
    options: [
      { name: 'from', value: 'FILE', kind: 'file', summary: 'Install from this file' },
      { name: 'sha256', value: 'HEX', summary: 'The SHA-256 of the file' },
      { name: 'version', value: 'VERSION', summary: 'Install this version from npm' },
      { name: 'rollback', summary: 'Restore the previous version' },
      { name: 'restart', summary: 'Restart the services that run this program' },
    ],
    examples: [
      'crabup self update',
      'crabup self update --from crabtalk-0.1.0-linux-x64.tar.gz --restart',
      'crabup self update --rollback',
    ],
    isAlone: true,
    load: async () => (await import('./update.ts')).selfUpdateCommand,
  },
  {
    path: ['uninstall'],
    args: '',
    summary: 'Stop all services, and remove their units and the components',
    details: `Asks before it stops or removes anything. Conversations, agents, memory and configuration stay unless you pass --purge, which
shows their sizes, asks, and removes them permanently. Without a terminal, both need --yes and do nothing without it. The program
itself stays; the last line says how to remove it.`,
    options: [
      { name: 'purge', summary: 'Remove conversations, agents, memory and configuration too' },
      YES_OPTION,
      { name: 'dry-run', summary: 'Print what would be removed' },
    ],
    examples: ['crabup uninstall --dry-run', 'crabup uninstall --yes'],
    load: async () => (await import('../uninstall.ts')).uninstallCommand,
  },
]
