import type { Command, Option } from './command.ts'
import { MCP_COMMANDS } from './mcp/table.ts'

const json: Option = { name: 'json', summary: 'Print JSON' }
const agent: Option = { name: 'agent', short: 'a', value: 'NAME', summary: 'The agent (default crab)' }
/** What an agent is made of, for `agent create` and `agent edit`. */
const agentKeys: readonly Option[] = [
  { name: 'description', value: 'TEXT', summary: 'What it is for' },
  { name: 'model', short: 'm', value: 'NAME', summary: 'Its model; an empty one is the default one' },
  { name: 'prompt', short: 'p', value: 'TEXT', summary: 'Its prompt; @FILE reads a file, @- standard input' },
  { name: 'set', value: 'KEY=VALUE', summary: 'Set a key of its file, VALUE as TOML (repeatable)' },
]

/** The commands of `crabtalk`. */
export const CRABTALK: readonly Command[] = [
  {
    path: ['send'],
    args: '[...prompt]',
    summary: 'Run one turn: prompt and standard input in, the answer out',
    options: [
      agent,
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        summary: 'Continue or start the conversation with this name',
      },
      { name: 'continue', short: 'c', summary: "Continue this agent's last conversation in this directory" },
      { name: 'fork', summary: 'Copy the conversation first and go on in the copy' },
      { name: 'no-save', summary: 'Store nothing' },
      { name: 'file', short: 'f', value: 'PATH', summary: 'Add a file to the prompt (repeatable)' },
      { name: 'image', short: 'i', value: 'PATH', summary: 'Attach an image (repeatable)' },
      { name: 'model', short: 'm', value: 'NAME', summary: 'Use this model' },
      { name: 'system', value: 'TEXT', summary: "Replace the agent's prompt; @FILE reads a file" },
      { name: 'thinking', summary: 'Let the model think, and show it on standard error' },
      { name: 'schema', value: 'JSON', summary: 'Answer with JSON of this schema; a FILE or JSON text' },
      { name: 'input', value: 'FORM', summary: 'text, or stream-json: records that make this a co-process' },
      { name: 'output', short: 'o', value: 'FORM', summary: 'text, json or stream-json (default text)' },
      {
        name: 'out-file',
        short: 'O',
        value: 'FILE',
        summary: 'Write the answer to a file, whole, on success',
      },
      { name: 'last', summary: 'Print only the final message' },
      { name: 'buffer', summary: 'Print the answer when it is complete' },
      { name: 'raw', summary: 'Keep control sequences on a terminal' },
      { name: 'color', value: 'WHEN', summary: 'auto, always or never' },
      { name: 'quiet', short: 'q', summary: 'Nothing on standard error but errors' },
      { name: 'verbose', short: 'v', summary: 'A line per tool call; -vv for every event' },
      { name: 'no-stdin', summary: 'Do not read standard input' },
      { name: 'stdin-wait', value: 'TIME', summary: 'Longest wait for a silent pipe (default 30s)' },
      {
        name: 'truncate',
        value: 'WHERE',
        summary: 'Cut input that is too long, at its head, tail or middle',
      },
      { name: 'timeout', value: 'TIME', summary: 'Longest run, not counting questions (default 10m)' },
      { name: 'idle-timeout', value: 'TIME', summary: 'Longest silence of the model (default 2m)' },
      { name: 'max-turns', value: 'N', summary: 'At most this many model calls' },
      { name: 'max-cost', value: 'USD', summary: 'Stop before the next model call once this is spent' },
      { name: 'retries', value: 'N', summary: 'Retries of a model call that has not begun (default 2)' },
      { name: 'tools', value: 'SET', summary: 'Tools the model is shown: none, read or all' },
      { name: 'no-mcp', summary: 'Use no MCP server' },
      {
        name: 'allow',
        value: 'RULE',
        summary: "Permit what this rule says, such as 'bash(git *)' (repeatable)",
      },
      {
        name: 'ask',
        value: 'RULE',
        summary: 'Ask about what this rule says, though others permit it (repeatable)',
      },
      {
        name: 'deny',
        value: 'RULE',
        summary: 'Refuse what this rule says, whatever else permits it (repeatable)',
      },
      { name: 'yolo', summary: 'Permit whatever no rule refuses' },
      {
        name: 'on-ask',
        value: 'WHO',
        summary:
          'Questions: tty asks you, deny and fail ask nobody, client asks in records (default tty, else deny)',
      },
      { name: 'fail-on-tool-error', summary: 'Exit 5 when a tool failed' },
      { name: 'no-daemon', summary: 'Run in this process even when a daemon is there' },
      { name: 'print-schema', summary: 'Print the JSON Schema of the json and stream-json output' },
    ],
    examples: [
      'crabtalk send "What can you do?"',
      'git diff | crabtalk send "Review this change"',
      'crabtalk send -s notes "Remember: the demo is on Friday"',
      `crabtalk send --allow edit --allow 'bash(npm test)' "Make the tests pass"`,
      'crabtalk send --output json "One word: ready?" | jq -r .text',
    ],
    load: async () => (await import('./send/send.ts')).send,
  },
  {
    path: ['agent', 'list'],
    args: '',
    summary: 'List agents',
    options: [json],
    examples: ['crabtalk agent list --json'],
    load: async () => (await import('./agent/commands.ts')).list,
  },
  {
    path: ['agent', 'show'],
    args: '[name]',
    summary: 'Show an agent: its configuration and its prompt',
    options: [json],
    examples: ['crabtalk agent show crab'],
    load: async () => (await import('./agent/commands.ts')).show,
  },
  {
    path: ['agent', 'create'],
    args: '<name>',
    summary: 'Create an agent',
    options: [...agentKeys, json],
    examples: ['crabtalk agent create reviewer --prompt "You review code. Be brief."'],
    load: async () => (await import('./agent/commands.ts')).create,
  },
  {
    path: ['agent', 'edit'],
    args: '<name>',
    summary: 'Change an agent, in $EDITOR or by options',
    options: [...agentKeys, json],
    examples: ['crabtalk agent edit reviewer --set max_iterations=30'],
    load: async () => (await import('./agent/commands.ts')).edit,
  },
  {
    path: ['agent', 'rename'],
    args: '<old> <new>',
    summary: 'Rename an agent; its conversations stay with it',
    options: [json],
    examples: ['crabtalk agent rename reviewer critic'],
    load: async () => (await import('./agent/commands.ts')).rename,
  },
  {
    path: ['agent', 'delete'],
    args: '<name>',
    summary: 'Delete an agent; its conversations stay',
    options: [],
    examples: ['crabtalk agent delete critic'],
    load: async () => (await import('./agent/commands.ts')).remove,
  },
  {
    path: ['conversation', 'list'],
    args: '',
    summary: 'List conversations, newest first',
    options: [
      { ...agent, summary: 'Only those of this agent' },
      { name: 'sender', short: 's', value: 'NAME', summary: 'Only those with this sender' },
      { name: 'limit', short: 'n', value: 'N', summary: 'At most this many (default 20, 0 for all)' },
      json,
    ],
    examples: ['crabtalk conversation list -n 5', 'crabtalk conversation list --json | jq -r .[].id'],
    load: async () => (await import('./conversation/commands.ts')).list,
  },
  {
    path: ['conversation', 'show'],
    args: '[id]',
    summary: 'Show a conversation (the last one without an id)',
    options: [json],
    examples: ['crabtalk conversation show', 'crabtalk conversation show 8Z4K2M0Q'],
    load: async () => (await import('./conversation/commands.ts')).show,
  },
  {
    path: ['conversation', 'export'],
    args: '[id]',
    summary: 'Export a conversation (the last one without an id)',
    options: [
      { name: 'format', value: 'FORM', summary: 'markdown, json or jsonl (default markdown)' },
      { name: 'out-file', short: 'O', value: 'FILE', summary: 'Write to a file instead of standard output' },
    ],
    examples: ['crabtalk conversation export --format markdown -O talk.md'],
    load: async () => (await import('./conversation/commands.ts')).exportConversation,
  },
  {
    path: ['conversation', 'delete'],
    args: '<...ids>',
    summary: 'Delete conversations for good',
    options: [],
    examples: ['crabtalk conversation delete 8Z4K2M0Q'],
    load: async () => (await import('./conversation/commands.ts')).remove,
  },
  ...MCP_COMMANDS,
  {
    path: ['policy', 'why'],
    args: '<call>',
    summary: 'Say whether a tool call would be allowed, and why',
    details: `CALL is the name of a tool with its command, its path, or its arguments as a JSON object in parentheses. Exits 0
whatever the answer is; --json is for programs.`,
    options: [
      agent,
      { name: 'sender', short: 's', value: 'NAME', summary: 'As if it came in this conversation' },
      { name: 'cwd', value: 'DIR', summary: 'As if it ran there (default this directory)' },
      { name: 'allow', value: 'RULE', summary: 'As if this rule permitted something (repeatable)' },
      { name: 'deny', value: 'RULE', summary: 'As if this rule refused something (repeatable)' },
      { name: 'ask', value: 'RULE', summary: 'As if this rule asked about something (repeatable)' },
      json,
    ],
    examples: [
      "crabtalk policy why 'bash(rm -rf build)'",
      "crabtalk policy why 'edit(src/a.ts)' --allow 'edit(src/**)'",
      'crabtalk policy why mcp__fs__write_file --json | jq -r .effect',
    ],
    load: async () => (await import('./policy.ts')).why,
  },
  {
    path: ['config', 'show'],
    args: '',
    summary: 'Show the configuration in use, secrets hidden',
    options: [json],
    examples: ['crabtalk config show'],
    load: async () => (await import('./config.ts')).show,
  },
  {
    path: ['config', 'path'],
    args: '',
    summary: 'Print where the configuration file is',
    options: [],
    examples: ['$EDITOR "$(crabtalk config path)"'],
    load: async () => (await import('./config.ts')).path,
  },
  {
    path: ['config', 'check'],
    args: '',
    summary: 'Check the configuration and every agent file',
    options: [json],
    examples: ['crabtalk config check'],
    load: async () => (await import('./config.ts')).check,
  },
  {
    path: ['version'],
    args: '',
    summary: 'Print the version',
    options: [],
    examples: ['crabtalk version'],
    load: async () => (await import('./version.ts')).version,
  },
]

/** The commands of `crabup`. */
export const CRABUP: readonly Command[] = [
  {
    path: ['version'],
    args: '',
    summary: 'Print the version',
    options: [],
    examples: ['crabup version'],
    load: async () => (await import('./version.ts')).version,
  },
]

/** Options every command has. */
export const GLOBAL: readonly Option[] = [
  { name: 'help', short: 'h', summary: 'Show help' },
  { name: 'debug', summary: 'Show where an error came from' },
]
