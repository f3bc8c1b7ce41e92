import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'
import { EVENT_KIND_NAMES } from './kinds.ts'

/** The rows of the command table for the events in a daemon, and for what they start. */
export const EVENTS_COMMANDS: readonly Command[] = [
  {
    path: ['events', 'publish'],
    args: '<source> [payload]',
    summary: 'Publish an event: agents that are subscribed to it begin to work',
    details: `PAYLOAD is what they read; - reads standard input, and so does leaving it out where standard input is a pipe or a file.
Prints the id of the event, for events trace. Needs a daemon.`,
    options: [],
    examples: [
      'crabtalk events publish rss:fetch "three new headlines"',
      'git log -1 --format=%B | crabtalk events publish commit:new',
    ],
    load: async () => (await import('./publish.ts')).publishEventCommand,
  },
  {
    path: ['events', 'subscribe'],
    args: '<source> <agent>',
    kinds: [undefined, 'agent'],
    summary: 'Start an agent whenever something is published under a source',
    details: `SOURCE is matched exactly. agent:NAME:done comes when a turn of that agent ends well, with the text it ended with;
agent:NAME:failed when it does not. The agent reads what was published, in its conversation with event:SOURCE. A daemon
must run then.`,
    options: [{ name: 'once', summary: 'Only the first time' }, JSON_OPTION],
    examples: [
      'crabtalk events subscribe agent:scout:done crab',
      'crabtalk events subscribe deploy:finished reviewer --once',
    ],
    load: async () => (await import('./subscriptions.ts')).subscribeCommand,
  },
  {
    path: ['events', 'list'],
    args: '',
    summary: 'List subscriptions',
    options: [JSON_OPTION],
    examples: ['crabtalk events list', 'crabtalk events list --json | jq -r .[].source'],
    load: async () => (await import('./subscriptions.ts')).listSubscriptionsCommand,
  },
  {
    path: ['events', 'unsubscribe'],
    args: '<id>',
    summary: 'End a subscription',
    options: [],
    examples: ['crabtalk events unsubscribe 3'],
    load: async () => (await import('./subscriptions.ts')).unsubscribeCommand,
  },
  {
    path: ['events', 'trace'],
    args: '[id]',
    summary: 'Show what events set off (the latest without an id)',
    details: `ID is that of an event, or of a run: then it is what came of its end. The daemon remembers the last 1,000 events, its
log all of them.`,
    options: [JSON_OPTION],
    examples: ['crabtalk events trace', 'crabtalk events trace 01M7ZYNV4YSTE78QY8BXNJSE05'],
    load: async () => (await import('./trace.ts')).traceEventsCommand,
  },
  {
    path: ['events'],
    args: '',
    summary: 'Follow what agents do, a line for each event, as it happens',
    details: `Ends with Ctrl-C. Needs a daemon, and shows what goes on in it. events publish, subscribe, list, unsubscribe and trace are
about events that start agents: see crabtalk events publish --help.`,
    options: [
      { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only those of this agent' },
      {
        name: 'kind',
        value: 'KIND',
        choices: EVENT_KIND_NAMES,
        summary: 'Only those of this kind (repeatable)',
      },
      { name: 'mcp', summary: 'Those of MCP servers instead' },
      { name: 'json', summary: 'Print one JSON object per line' },
    ],
    examples: [
      'crabtalk events',
      "crabtalk events --json --kind done | jq -r '.agent'",
      'crabtalk events --mcp',
    ],
    load: async () => (await import('./follow.ts')).followEventsCommand,
  },
]
