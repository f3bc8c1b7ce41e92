import type { Command } from '../../../cli/command.ts'

/** The commands that update the program or remove what it installed. */
export const SELF_COMMANDS: readonly Command[] = [
  {
    path: ['self', 'update'],
    args: '',
    summary: 'Replace this program by another version of it',
    details: `Takes the newest release from npm, or a file: an archive of a release or the program in it. A file needs a checksum, from
SHA256SUMS or FILE.sha256 beside it or from --sha256. The new program must run commands in an empty home before anything
is switched, and the one before stays beside it as crabtalk.old; \`crabtalk.old self update --rollback\` works without the new one.
Services that run go on with the program they were started with until they are restarted; with --restart the program before comes
back when a restart fails.`,
    options: [
      { name: 'from', value: 'FILE', kind: 'file', summary: 'Take this file' },
      { name: 'sha256', value: 'HEX', summary: 'What SHA-256 the file has' },
      { name: 'version', value: 'VERSION', summary: 'Take this version from npm' },
      { name: 'rollback', summary: 'Put the one before back' },
      { name: 'restart', summary: 'Restart the services that run it' },
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
    summary: 'End all services and remove their units, and the components',
    details: `Asks before it ends and removes anything. Conversations, agents, memory and configuration stay, unless --purge is given:
then they are gone for good, after a question with the sizes. Without a terminal, both need --yes, and do nothing without it. The
program itself stays; the last line says how to remove it.`,
    options: [
      { name: 'purge', summary: 'Remove conversations, agents, memory and configuration too' },
      { name: 'yes', short: 'y', summary: 'Do not ask before' },
      { name: 'dry-run', summary: 'Say what would be removed' },
    ],
    examples: ['crabup uninstall --dry-run', 'crabup uninstall --yes'],
    load: async () => (await import('../uninstall.ts')).uninstallCommand,
  },
]
