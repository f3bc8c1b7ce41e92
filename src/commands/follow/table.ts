import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

/** The options that name a conversation when no argument does. */
export const ADDRESS_OPTIONS: readonly CommandOption[] = [
  AGENT_OPTION,
  {
    name: 'sender',
    short: 's',
    value: 'NAME',
    kind: 'sender',
    summary: 'The sender whose conversation to use (default your user name)',
  },
]

const LINES_OPTION: CommandOption = {
  name: 'lines',
  short: 'n',
  value: 'N',
  fallback: '10',
  summary: 'Show the last N messages first',
}

/** The rows of the command table for conversations in the daemon. */
export const FOLLOW_COMMANDS: readonly Command[] = [
  {
    path: ['attach'],
    args: '[target]',
    kinds: ['address'],
    summary: 'Open the chat on a conversation or a running turn',
    details: `TARGET is AGENT/SENDER, an agent, or the id of a run. The chat shows earlier messages, joins a running
turn, and shows what any other client does there as it happens. In a pipe, or with --json, it prints what tail prints.`,
    options: [
      ...ADDRESS_OPTIONS,
      LINES_OPTION,
      { name: 'plain', summary: 'Plain lines instead of a screen' },
      JSON_OPTION,
    ],
    examples: ['crabtalk attach crab/notes', 'crabtalk attach -a reviewer'],
    needsDaemon: true,
    load: async () => (await import('./attach.ts')).attachConversationCommand,
  },
  {
    path: ['tail'],
    args: '[target]',
    kinds: ['address'],
    summary: 'Print a conversation live, including turns of other clients',
    details: `TARGET is AGENT/SENDER, an agent, or the id of a run. Prints the last messages and the running turn from its
start, then everything new until Ctrl+C. --json prints the lines of send --output stream-json, with "message" and "conversation" objects between them.`,
    options: [...ADDRESS_OPTIONS, LINES_OPTION, JSON_OPTION],
    examples: [
      'crabtalk tail crab/notes',
      `crabtalk tail -s notes --json | jq -r 'select(.type == "tool.started") | .name'`,
    ],
    needsDaemon: true,
    load: async () => (await import('./tail.ts')).tailConversationCommand,
  },
  {
    path: ['wait'],
    args: '<run>',
    kinds: ['run'],
    summary: 'Wait for a run of send --detach, and print its answer',
    details: `Prints and exits as send would have done. Interrupting this command does not stop the run. A daemon remembers the last
thousand runs that have ended, until it exits.`,
    options: [
      {
        name: 'timeout',
        value: 'TIME',
        fallback: '0, no limit',
        summary: 'Stop waiting after this time, with exit code 124',
      },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk wait 01M7ZYNV4YSTE78QY8BXNJSE05',
      'crabtalk wait --timeout 5m --json 01M7ZYNV4YSTE78QY8BXNJSE05 | jq -r .text',
    ],
    needsDaemon: true,
    load: async () => (await import('./wait.ts')).waitRunCommand,
  },
]
