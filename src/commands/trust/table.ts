import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

const FOLDER = { args: '[dir]', kinds: ['folder'], isAlone: true } as const

/** The rows of the command table for folders whose files the user trusts. */
export const TRUST_COMMANDS: readonly Command[] = [
  {
    path: ['trust', 'list'],
    args: '',
    isAlone: true,
    summary: 'List the directories and MCP server files that you trust or do not',
    details: `A directory is "notified" when its instruction files are used and you were told so once; "trusted" and "untrusted" are your
own answers. Directories that are not listed are new. A file of MCP servers has a row of its own: "changed" when you are asked
again, because it is not what you answered about, and "gone" when it does not exist.`,
    options: [JSON_OPTION],
    examples: ['crabtalk trust list', 'crabtalk trust list --json'],
    load: async () => (await import('./trust.ts')).listTrustedFoldersCommand,
  },
  {
    path: ['trust', 'add'],
    ...FOLDER,
    summary: 'Trust a directory: agents use its instruction files, also in unattended turns',
    details: `DIR means its whole repository, or only itself if it is not in one; the default is the current directory. MCP servers of the
directory are not started by this: crabtalk trust shows what they run, and asks.`,
    options: [],
    examples: ['crabtalk trust add', 'crabtalk trust add src'],
    load: async () => (await import('./trust.ts')).addTrustedFolderCommand,
  },
  {
    path: ['trust', 'remove'],
    ...FOLDER,
    summary: 'Stop trusting a directory: agents ignore its instruction files and MCP servers',
    details: `DIR means its whole repository, or only itself if it is not in one; the default is the current directory. A directory that no longer
exists is removed from the list.`,
    options: [{ name: 'forget', summary: 'Treat it as a new directory again' }],
    examples: ['crabtalk trust remove', 'crabtalk trust remove --forget'],
    load: async () => (await import('./trust.ts')).removeTrustedFolderCommand,
  },
  {
    path: ['trust'],
    ...FOLDER,
    summary: 'Show what the MCP servers of a project would run, and ask whether they may',
    details: `The files are .mcp.json and .crabtalk/mcp.toml in the nearest directory up to the root of the repository. Their servers start in
conversations of crabtalk chat and crabtalk send in this project, until a file changes: then you are asked again, and shown
what changed. After a "no" the next file is asked about. DIR is the current directory unless you give another
one. Exits with 78 when a file of the project is not valid.`,
    options: [
      { name: 'yes', short: 'y', summary: 'Trust the files without asking, after showing them' },
      { name: 'list', summary: 'List what you answered: the same as crabtalk trust list' },
      { name: 'revoke', summary: 'Do not start them any more: the same as crabtalk trust remove' },
    ],
    examples: ['crabtalk trust', 'crabtalk trust --yes src', 'crabtalk trust --revoke'],
    load: async () => (await import('./servers.ts')).trustServersCommand,
  },
]
