import type { Command, CommandOption } from '../../cli/command.ts'
import { JSON_OPTION, YES_OPTION } from '../../cli/options.ts'
import { ADDRESS_OPTIONS } from '../follow/table.ts'

/** The filters of commands that work on several conversations. */
const FILTERS: readonly CommandOption[] = [
  { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only conversations with this agent' },
  {
    name: 'sender',
    short: 's',
    value: 'NAME',
    kind: 'sender',
    summary: 'Only conversations with this sender',
  },
  { name: 'cwd', value: 'DIR', kind: 'folder', summary: 'Only conversations started in this directory' },
  { name: 'here', summary: 'Only conversations started in the current directory' },
]

/** The rows of the command table for stored conversations. */
export const CONVERSATION_COMMANDS: readonly Command[] = [
  {
    path: ['conversation', 'list'],
    args: '',
    summary: 'List conversations, newest first',
    options: [
      ...FILTERS,
      {
        name: 'limit',
        short: 'n',
        value: 'N',
        fallback: '20',
        summary: 'Show at most this many; 0 shows all',
      },
      { name: 'offset', value: 'N', fallback: '0', summary: 'Skip the N newest conversations' },
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
    summary: 'Search conversations, best match first',
    details: `Finds words in any order, with or without quotes; conversations with more of the words, or with rarer ones, rank higher.
Searches what you and the agent said, tool calls (not their results), titles and summaries. WHEN is a date (2026-03-01), a
time, or an age: 12h, 7d, 2w, 6mo, 1y. Exits with 1 when nothing is found, as grep does.`,
    options: [
      ...FILTERS,
      { name: 'since', value: 'WHEN', summary: 'Only messages since then' },
      { name: 'until', value: 'WHEN', summary: 'Only messages up to then; a date includes the whole day' },
      { name: 'limit', short: 'n', value: 'N', fallback: '10', summary: 'Show at most this many, up to 20' },
      {
        name: 'context',
        short: 'C',
        value: 'N',
        fallback: '1',
        summary: 'Show this many messages before and after each match, 16 in total at most',
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
    summary: 'Show a conversation, by default the last one',
    options: [JSON_OPTION],
    details: 'The id can be shortened to its end. AGENT/SENDER means the current conversation of that pair.',
    examples: ['crabtalk conversation show', 'crabtalk conversation show 8Z4K2M0Q'],
    load: async () => (await import('./commands.ts')).showConversationCommand,
  },
  {
    path: ['conversation', 'export'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Export a conversation, by default the last one',
    options: [
      {
        name: 'format',
        value: 'FORM',
        choices: ['markdown', 'html', 'json', 'jsonl'],
        fallback: 'markdown',
        summary: 'The format of the output',
      },
      { name: 'html', summary: 'The same as --format html: a page that looks like the chat' },
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        kind: 'file',
        summary: 'Write to a file instead of standard output',
      },
    ],
    examples: [
      'crabtalk conversation export --format markdown -O talk.md',
      'crabtalk conversation export --html -O talk.html',
    ],
    load: async () => (await import('./commands.ts')).exportConversationCommand,
  },
  {
    path: ['conversation', 'kill'],
    args: '[target]',
    kinds: ['address'],
    summary: 'Interrupt the running turn of a conversation, its tools and their programs',
    details: `TARGET is AGENT/SENDER, an agent, or the id of a run. Stored messages are kept, and the conversation continues with
the next message.`,
    options: ADDRESS_OPTIONS,
    examples: ['crabtalk conversation kill crab/notes'],
    load: async () => (await import('./kill.ts')).killConversationCommand,
  },
  {
    path: ['conversation', 'rename'],
    args: '<id> <...title>',
    kinds: ['conversation'],
    summary: 'Give a conversation a title',
    options: [],
    examples: ['crabtalk conversation rename 8Z4K2M0Q Release notes'],
    load: async () => (await import('./change.ts')).renameConversationCommand,
  },
  {
    path: ['conversation', 'fork'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Copy a conversation, by default the last one',
    details: `The copy has a sender of its own; crabtalk chat --resume opens it. crabtalk conversation rewind lists the numbers for --at.`,
    options: [
      { name: 'at', value: 'N', summary: 'Copy only the messages before this one' },
      { name: 'title', value: 'TEXT', summary: 'The title of the copy' },
      JSON_OPTION,
    ],
    examples: ['crabtalk conversation fork', 'crabtalk conversation fork 8Z4K2M0Q --title "Another way"'],
    load: async () => (await import('./change.ts')).forkConversationCommand,
  },
  {
    path: ['conversation', 'compact'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Replace the history of a conversation with a summary, by default the last one',
    details: `A model writes a summary that replaces the messages for the agent. The messages stay in the file, for show, search and
export. --undo works until the next message.`,
    options: [
      {
        name: 'model',
        short: 'm',
        value: 'NAME',
        kind: 'model',
        summary: 'The model that writes the summary',
      },
      { name: 'focus', value: 'TEXT', summary: "What the summary should keep, such as 'the API'" },
      { name: 'undo', summary: 'Undo the last compaction' },
      JSON_OPTION,
    ],
    examples: ['crabtalk conversation compact --json | jq .tokens_after'],
    load: async () => (await import('./change.ts')).compactConversationCommand,
  },
  {
    path: ['conversation', 'rewind'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Go back to one of your messages; without --to, list them',
    details: `The agent no longer sees that message and what followed. Nothing is deleted: show, search and export still have the messages.
--files also restores the files that edit and write changed since, as undo does.`,
    options: [
      { name: 'to', value: 'N', summary: 'The number of the message to go back to' },
      { name: 'files', summary: 'Also restore the files' },
      { name: 'only-files', summary: 'Restore the files and keep the messages' },
      { name: 'dry-run', summary: 'Only show what would happen' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk conversation rewind',
      'crabtalk conversation rewind 8Z4K2M0Q --to 1 --files --dry-run',
    ],
    load: async () => (await import('./rewind.ts')).rewindConversationCommand,
  },
  {
    path: ['conversation', 'context'],
    args: '[id]',
    kinds: ['conversation'],
    summary: "Show what fills the context of a conversation's next request",
    details: 'Tokens are estimates; the last line is the number that the provider reported, if known.',
    options: [
      { name: 'model', short: 'm', value: 'NAME', kind: 'model', summary: 'Estimate for this model' },
      JSON_OPTION,
    ],
    examples: ['crabtalk conversation context', 'crabtalk conversation context --json | jq .total'],
    load: async () => (await import('./context.ts')).contextCommand,
  },
  {
    path: ['conversation', 'diff'],
    args: '[id]',
    kinds: ['conversation'],
    summary: 'Show what a conversation changed in files, by default the last one',
    details: `Compares each file that edit and write changed with what it was before the conversation first changed it. Changes by command
lines and MCP servers are not tracked; standard error names those calls.`,
    options: [{ name: 'stat', summary: 'Only count the changed lines of each file' }, JSON_OPTION],
    examples: ['crabtalk conversation diff --stat', 'crabtalk conversation diff | less'],
    load: async () => (await import('./diff.ts')).diffCommand,
  },
  {
    path: ['conversation', 'undo'],
    args: '',
    summary: 'Undo the file changes of the last turn',
    details: `Undoes what the tools edit and write did in the last turn that changed a file and is not undone yet; run it again for the
turn before. Files that were changed again since then are kept as they are, and so is everything that bash and MCP servers
did. Without options, it applies to the conversation that was used last.`,
    options: [
      {
        name: 'agent',
        short: 'a',
        value: 'NAME',
        kind: 'agent',
        summary: 'Only conversations with this agent',
      },
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        summary: 'Only conversations with this sender',
      },
      { name: 'dry-run', summary: 'Only show what would happen' },
      JSON_OPTION,
    ],
    examples: ['crabtalk conversation undo --dry-run', 'crabtalk conversation undo -s me'],
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  {
    path: ['conversation', 'delete'],
    args: '<...ids>',
    kinds: ['conversation'],
    summary: 'Delete conversations permanently',
    details: 'Asks first. Without a terminal, --yes is required.',
    options: [YES_OPTION],
    examples: ['crabtalk conversation delete 8Z4K2M0Q --yes'],
    load: async () => (await import('./commands.ts')).removeConversationCommand,
  },
]
