import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

const AGENT: CommandOption = { ...AGENT_OPTION, summary: 'The agent whose memory it is' }
const YES: CommandOption = { name: 'yes', short: 'y', summary: 'Do not ask' }
const common = [AGENT, JSON_OPTION]

/** The rows of the command table for what agents remember. */
export const MEMORY_COMMANDS: readonly Command[] = [
  {
    path: ['memory', 'list'],
    args: '',
    summary: 'List what an agent remembers, by name',
    options: [
      AGENT,
      { name: 'kind', value: 'KIND', choices: ['note', 'archive', 'topic'], summary: 'Only those' },
      { name: 'limit', short: 'n', value: 'N', fallback: 'all', summary: 'At most this many; 0 for all' },
      { name: 'offset', value: 'N', fallback: '0', summary: 'Leave out that many of the first' },
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
    summary: 'Find entries by their names, aliases and contents, the best first',
    details: `Words in any order, quotes or not; an entry with more of them, or with rarer ones, stands higher. Exits 1 when nothing
is found, as grep does.`,
    options: [
      AGENT,
      { name: 'limit', short: 'n', value: 'N', fallback: '10', summary: 'At most this many, up to 100' },
      JSON_OPTION,
    ],
    examples: ['crabtalk memory search friday'],
    load: async () => (await import('./search.ts')).searchMemoriesCommand,
  },
  {
    path: ['memory', 'remember'],
    args: '<name> [...content]',
    kinds: ['memory', undefined],
    summary: 'Write an entry, or another content into the one of that name',
    details: `CONTENT is the words as they stand, @FILE for what is in a file, - for standard input; without it standard input is read
where something is piped into it. Of a file or a pipe the last line end is left out.`,
    options: [
      AGENT,
      { name: 'alias', value: 'NAME', summary: 'Another name of it (repeatable)' },
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
    summary: 'Remove notes for good; archives stay',
    options: [AGENT, YES, JSON_OPTION],
    examples: ['crabtalk memory forget deploy'],
    load: async () => (await import('./forget.ts')).forgetMemoryCommand,
  },
  {
    path: ['memory', 'rename'],
    args: '<old> <new>',
    kinds: ['memory', undefined],
    summary: 'Give an entry another name; the old one stays as an alias',
    options: common,
    examples: ['crabtalk memory rename deploy release'],
    load: async () => (await import('./change.ts')).renameMemoryCommand,
  },
  {
    path: ['memory', 'alias'],
    args: '<name> [...aliases]',
    kinds: ['memory', undefined],
    summary: 'Give an entry further names, or take some away',
    options: [
      AGENT,
      { name: 'remove', value: 'NAME', kind: 'memory', summary: 'Take this alias away (repeatable)' },
      JSON_OPTION,
    ],
    examples: ['crabtalk memory alias deploy rollout', 'crabtalk memory alias deploy --remove ship'],
    load: async () => (await import('./change.ts')).aliasMemoryCommand,
  },
  {
    path: ['memory', 'dump'],
    args: '<folder>',
    kinds: ['folder'],
    summary: 'Write a memory as Markdown files that people and mdbook can read',
    details: `What lies in notes/ and archives/ of FOLDER is replaced, and SUMMARY.md; everything else there stays.`,
    options: common,
    examples: ['crabtalk memory dump brain'],
    load: async () => (await import('./tree.ts')).dumpMemoryCommand,
  },
  {
    path: ['memory', 'load'],
    args: '<folder>',
    kinds: ['folder'],
    summary: 'Put what a dump holds in place of a memory, all of it',
    details: `What is not in FOLDER is gone afterwards. Files that people wrote are taken as they are. When something is wrong with one
of them nothing is changed. Where nobody can be asked it needs --yes, unless nothing goes.`,
    options: [AGENT, { name: 'dry-run', summary: 'Only say what would change' }, YES, JSON_OPTION],
    examples: ['crabtalk memory load brain --dry-run', 'crabtalk memory load brain --yes'],
    load: async () => (await import('./tree.ts')).loadMemoryCommand,
  },
]
