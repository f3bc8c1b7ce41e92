import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, JSON_OPTION, YES_OPTION } from '../../cli/options.ts'

const AGENT: CommandOption = { ...AGENT_OPTION, summary: 'The agent whose memory to use' }
const common = [AGENT, JSON_OPTION]

/** The rows of the command table for what agents remember. */
export const MEMORY_COMMANDS: readonly Command[] = [
  {
    path: ['memory', 'list'],
    args: '',
    summary: 'List what an agent remembers, by name',
    options: [
      AGENT,
      {
        name: 'kind',
        value: 'KIND',
        choices: ['note', 'archive', 'topic'],
        summary: 'Only entries of this kind',
      },
      {
        name: 'limit',
        short: 'n',
        value: 'N',
        fallback: 'all',
        summary: 'Show at most this many; 0 shows all',
      },
      { name: 'offset', value: 'N', fallback: '0', summary: 'Skip the first N entries' },
      JSON_OPTION,
    ],
    examples: ['crabtalk memory list', 'crabtalk memory list --kind note --json | jq -r .[].name'],
    load: async () => (await import('./list.ts')).listMemoriesCommand,
  },
  {
    path: ['memory', 'show'],
    args: '<name>',
    kinds: ['memory'],
    summary: 'Print an entry, by its name or an alias',
    options: common,
    examples: ['crabtalk memory show deploy'],
    load: async () => (await import('./list.ts')).showMemoryCommand,
  },
  {
    path: ['memory', 'search'],
    args: '<...words>',
    summary: 'Search entries by name, alias and content, best match first',
    details: `Finds words in any order, with or without quotes; entries with more of the words, or with rarer ones, rank higher. Exits with 1
when nothing is found, as grep does.`,
    options: [
      AGENT,
      { name: 'limit', short: 'n', value: 'N', fallback: '10', summary: 'Show at most this many, up to 100' },
      JSON_OPTION,
    ],
    examples: ['crabtalk memory search friday'],
    load: async () => (await import('./search.ts')).searchMemoriesCommand,
  },
  {
    path: ['memory', 'remember'],
    args: '<name> [...content]',
    kinds: ['memory', undefined],
    summary: 'Write an entry, or replace the content of an existing one',
    details: `CONTENT is the text itself, @FILE for the content of a file, or - for standard input. Without CONTENT, standard input is
read if it is a pipe or a file. The last line ending of a file or a pipe is removed.`,
    options: [
      AGENT,
      { name: 'alias', value: 'NAME', summary: 'Another name for the entry (repeatable)' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk memory remember deploy --alias ship "Every Friday at 10, by make deploy"',
      'crabtalk memory remember report @report.txt',
    ],
    load: async () => (await import('./change.ts')).rememberCommand,
  },
  {
    path: ['memory', 'forget'],
    args: '<...names>',
    kinds: ['memory'],
    summary: 'Delete notes permanently; archives stay',
    details: 'Asks first. Without a terminal, --yes is required.',
    options: [AGENT, YES_OPTION, JSON_OPTION],
    examples: ['crabtalk memory forget deploy --yes'],
    load: async () => (await import('./forget.ts')).forgetMemoryCommand,
  },
  {
    path: ['memory', 'rename'],
    args: '<old> <new>',
    kinds: ['memory', undefined],
    summary: 'Rename an entry; the old name stays as an alias',
    options: common,
    examples: ['crabtalk memory rename deploy release'],
    load: async () => (await import('./change.ts')).renameMemoryCommand,
  },
  {
    path: ['memory', 'alias'],
    args: '<name> [...aliases]',
    kinds: ['memory', undefined],
    summary: 'Add or remove aliases of an entry',
    options: [
      AGENT,
      { name: 'remove', value: 'NAME', kind: 'memory', summary: 'Remove this alias (repeatable)' },
      JSON_OPTION,
    ],
    examples: ['crabtalk memory alias deploy rollout', 'crabtalk memory alias deploy --remove ship'],
    load: async () => (await import('./change.ts')).aliasMemoryCommand,
  },
  {
    path: ['memory', 'dump'],
    args: '<folder>',
    kinds: ['folder'],
    summary: 'Write a memory as Markdown files, for reading, editing or mdbook',
    details: `Replaces notes/, archives/ and SUMMARY.md in FOLDER; everything else there stays.`,
    options: common,
    examples: ['crabtalk memory dump brain'],
    load: async () => (await import('./tree.ts')).dumpMemoryCommand,
  },
  {
    path: ['memory', 'load'],
    args: '<folder>',
    kinds: ['folder'],
    summary: 'Replace a whole memory with a dump',
    details: `Entries that are not in FOLDER are deleted. Files that you wrote by hand are loaded, too. If one of the files is invalid,
nothing is changed. Without a terminal, --yes is required unless nothing would be lost.`,
    options: [AGENT, { name: 'dry-run', summary: 'Only show what would change' }, YES_OPTION, JSON_OPTION],
    examples: ['crabtalk memory load brain --dry-run', 'crabtalk memory load brain --yes'],
    load: async () => (await import('./tree.ts')).loadMemoryCommand,
  },
]
