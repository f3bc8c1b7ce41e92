import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

const FOLDER = { args: '[dir]', kinds: ['folder'], isAlone: true } as const

/** The rows of the command table for folders whose files the user trusts. */
export const TRUST_COMMANDS: readonly Command[] = [
  {
    path: ['trust', 'list'],
    args: '',
    isAlone: true,
    summary: 'List the directories that agents may and may not take instructions from',
    details: `A directory is "notified" when its instruction files are used and you were told so once; "trusted" and "untrusted" are your
own answers. Directories that are not listed are new.`,
    options: [JSON_OPTION],
    examples: ['crabtalk trust list', 'crabtalk trust list --json'],
    load: async () => (await import('./trust.ts')).listTrustedFoldersCommand,
  },
  {
    path: ['trust', 'add'],
    ...FOLDER,
    summary: 'Trust a directory: agents use its instruction files, also in unattended turns',
    details: `DIR means its whole repository, or only itself if it is not in one; the default is the current directory.`,
    options: [],
    examples: ['crabtalk trust add', 'crabtalk trust add src'],
    load: async () => (await import('./trust.ts')).addTrustedFolderCommand,
  },
  {
    path: ['trust', 'remove'],
    ...FOLDER,
    summary: 'Stop trusting a directory: agents ignore its instruction files',
    details: `DIR means its whole repository, or only itself if it is not in one; the default is the current directory. A directory that no longer
exists is removed from the list.`,
    options: [{ name: 'forget', summary: 'Treat it as a new directory again' }],
    examples: ['crabtalk trust remove', 'crabtalk trust remove --forget'],
    load: async () => (await import('./trust.ts')).removeTrustedFolderCommand,
  },
]
