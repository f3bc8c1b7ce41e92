import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'
import { EVENT_KIND_NAMES } from './kinds.ts'

/** The rows of the command table for the events in a daemon, and for what they start. */
export const EVENTS_COMMANDS: readonly Command[] = [
  {
    path: ['events', 'publish'],
    args: '<source> [payload]',
    summary: 'Publish an event and start the agents that are subscribed to it',
    details: `PAYLOAD is the text that they read; - reads standard input, and so does leaving it out if standard input is a pipe or a
file. Prints the id of the event, for events trace. Needs a daemon.`,
    options: [],
    examples: [
      'crabtalk events publish rss:fetch "three new headlines"',
      'git log -1 --format=%B | crabtalk events publish commit:new',
    ],
    needsDaemon: true,
    load: async () => (await import('./publish.ts')).publishEventCommand,
  },
  {
    path: ['events', 'subscribe'],
    args: '<source> <agent>',
    kinds: [undefined, 'agent'],
    summary: 'Start an agent whenever an event of a source is published',
    details: `SOURCE is matched exactly. agent:NAME:done is published when a turn of that agent ends well, with its final text;
agent:NAME:failed when it does not. The agent reads the payload in its conversation with event:SOURCE. Agents are started
only while a daemon is running.`,
    options: [{ name: 'once', summary: 'Only for the first event' }, JSON_OPTION],
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
    summary: 'Show what an event started, or list the latest events',
    details: `ID is the id of an event, or of a run whose end started agents. The daemon remembers the last 1,000 events; its log has
all of them.`,
    options: [JSON_OPTION],
    examples: ['crabtalk events trace', 'crabtalk events trace 01M7ZYNV4YSTE78QY8BXNJSE05'],
    needsDaemon: true,
    load: async () => (await import('./trace.ts')).traceEventsCommand,
  },
  {
    path: ['events'],
    args: '',
    summary: 'Follow what agents do as it happens, one line per event',
    details: `Runs until Ctrl+C. Requires a daemon, and shows its events. The other commands of events are about those that start agents.`,
    options: [
      { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only events of this agent' },
      {
        name: 'kind',
        value: 'KIND',
        choices: EVENT_KIND_NAMES,
        summary: 'Only events of this kind (repeatable)',
      },
      { name: 'mcp', summary: 'Show events of MCP servers instead' },
      { name: 'json', summary: 'Print one JSON object per line' },
    ],
    examples: [
      'crabtalk events',
      "crabtalk events --json --kind done | jq -r '.agent'",
      'crabtalk events --mcp',
    ],
    needsDaemon: true,
    load: async () => (await import('./follow.ts')).followEventsCommand,
  },
]
