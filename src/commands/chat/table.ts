import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, EFFORT_OPTION, FOREIGN_RULE_HINTS, RULE_OPTIONS } from '../../cli/options.ts'

/** The options of the chat; those of permission are shared with `send`. */
const options: readonly CommandOption[] = [
  AGENT_OPTION,
  {
    name: 'sender',
    short: 's',
    value: 'NAME',
    kind: 'sender',
    summary: 'Share the conversation of this sender with other windows and scripts',
  },
  { name: 'model', short: 'm', value: 'NAME', kind: 'model', summary: 'Use this model' },
  EFFORT_OPTION,
  { name: 'new', short: 'n', summary: 'Start a new conversation' },
  {
    ...{ name: 'resume', short: 'r', value: 'ID', isValueOptional: true, kind: 'conversation' },
    summary: 'Continue this conversation; without an ID, choose one from a list',
  },
  { name: 'no-mcp', summary: 'Use no MCP servers' },
  ...RULE_OPTIONS,
  { name: 'plain', summary: 'Plain lines instead of a screen: for screen readers and simple terminals' },
  { name: 'color', value: 'WHEN', choices: ['auto', 'always', 'never'], summary: 'When to use colors' },
]

const RESUME_HINT = 'crabtalk continues the last conversation of this directory; --new starts another one'
const IS_SEND = 'crabtalk send "…" prints the answer and exits'

/** The row of the command table for the chat. */
export const CHAT_COMMANDS: readonly Command[] = [
  {
    path: ['chat'],
    args: '[...prompt]',
    summary: 'Chat with an agent in the terminal (the same as crabtalk alone)',
    details: `The chat continues the last conversation of this directory, unless another window has it open; --new starts another one, and
--resume and --sender share one on purpose. A PROMPT is sent immediately. What you type
while the agent works reaches it before its next step; Tab queues it until the turn ends; Esc interrupts.`,
    options,
    instead: {
      ...FOREIGN_RULE_HINTS,
      ...{ '-c': RESUME_HINT, '--continue': RESUME_HINT, '-p': IS_SEND, '--print': IS_SEND },
    },
    examples: ['crabtalk', 'crabtalk chat -a reviewer', 'crabtalk chat --new "Let us plan the release"'],
    load: async () => (await import('./chat.ts')).chatCommand,
  },
]
