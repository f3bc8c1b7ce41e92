import type { Command, CommandOption } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'
import { ADDRESS_OPTIONS } from '../follow/table.ts'

/** The filters of commands that work on several conversations. */
const FILTERS: readonly CommandOption[] = [
  { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only those of this agent' },
  { name: 'sender', short: 's', value: 'NAME', kind: 'sender', summary: 'Only those with this sender' },
  { name: 'cwd', value: 'DIR', kind: 'folder', summary: 'Only those that were begun in this directory' },
  { name: 'here', summary: 'Only those that were begun in the directory you are in' },
]

/** The rows of the command table for stored conversations. */
export const CONVERSATION_COMMANDS: readonly Command[] = [
  {
    path: ['conversation', 'list'],
    args: '',
    summary: 'List conversations, newest first',
    options: [
      ...FILTERS,
      { name: 'limit', short: 'n', value: 'N', fallback: '20', summary: 'At most this many; 0 for all' },
      { name: 'offset', value: 'N', fallback: '0', summary: 'Leave out that many of the newest' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk conversation list -n 5',
      'crabtalk conversation list --here',
      'crabtalk conversation list --json | jq -r .[].id',
    ],
    load: async () => (await import('./commands.ts')).listConversationsCommand,
  },
  {
    path: ['conversation', 'search'],
    args: '<...words>',
    summary: 'Find conversations by what was said in them, the best first',
    details: `Words in any order, quotes or not; a conversation with more of them, or with rarer ones, stands higher. Looked at are
what you and the agent said, the calls of tools (not their results), titles and summaries. WHEN is a date (2026-03-01), a time, or
how long ago: 12h, 7d, 2w, 6mo, 1y. Exits 1 when nothing is found, as grep does.`,
    options: [
      ...FILTERS,
      { name: 'since', value: 'WHEN', summary: 'Only what was said from then on' },
      { name: 'until', value: 'WHEN', summary: 'Only what was said up to then; of a date, the whole day' },
      { name: 'limit', short: 'n', value: 'N', fallback: '10', summary: 'At most this many, up to 20' },
      {
        name: 'context',
        short: 'C',
        value: 'N',
        fallback: '1',
        summary: 'Show that many messages before and behind each match, 16 in all at most',
      },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk conversation search hello',
      'crabtalk conversation search -n 3 --since 1y hello',
      `crabtalk conversation search --here --json hello | jq -r '.hits[].id'`,
    ],
    load: async () => (await import('./search.ts')).searchConversationsCommand,
  },
  {
    path: ['conversation', 'show'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Show a conversation (the last one without an id)',
    options: [JSON_OPTION],
    details: 'The id may be its end, or AGENT/SENDER: then it is the conversation that goes on there.',
    examples: ['crabtalk conversation show', 'crabtalk conversation show 8Z4K2M0Q'],
    load: async () => (await import('./commands.ts')).showConversationCommand,
  },
  {
    path: ['conversation', 'export'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Export a conversation (the last one without an id)',
    options: [
      {
        name: 'format',
        value: 'FORM',
        choices: ['markdown', 'json', 'jsonl'],
        fallback: 'markdown',
        summary: 'How it is written',
      },
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        kind: 'file',
        summary: 'Write to a file instead of standard output',
      },
    ],
    examples: ['crabtalk conversation export --format markdown -O talk.md'],
    load: async () => (await import('./commands.ts')).exportConversationCommand,
  },
  {
    path: ['conversation', 'kill'],
    args: '[target]',
    kinds: ['address'],
    summary: 'End what runs in a conversation: the turn, its tools, their programs',
    details: `TARGET is AGENT/SENDER, an agent, or the id of a run. What was said is kept, and the conversation goes on with the next
message.`,
    options: ADDRESS_OPTIONS,
    examples: ['crabtalk conversation kill crab/notes'],
    load: async () => (await import('./kill.ts')).killConversationCommand,
  },
  {
    path: ['conversation', 'undo'],
    args: '',
    summary: 'Take back what the last turn did to files',
    details: `It takes back what the tools edit and write did, in the last turn that changed a file and is not taken back yet; the next
one takes the turn before. A file that something else changed since is kept as it is, and so is all that bash and MCP
servers did. Without options it is the conversation that was used last.`,
    options: [
      {
        name: 'agent',
        short: 'a',
        value: 'NAME',
        kind: 'agent',
        summary: 'Of a conversation with this agent',
      },
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        summary: 'Of a conversation with this sender',
      },
      { name: 'dry-run', summary: 'Only say what would happen' },
      JSON_OPTION,
    ],
    examples: ['crabtalk conversation undo --dry-run', 'crabtalk conversation undo -s me'],
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  {
    path: ['conversation', 'delete'],
    args: '<...ids>',
    kinds: ['conversation'],
    summary: 'Delete conversations for good',
    options: [],
    examples: ['crabtalk conversation delete 8Z4K2M0Q'],
    load: async () => (await import('./commands.ts')).removeConversationCommand,
  },
]
