import type { Command } from '../../cli/command.ts'
import { EXIT_ZERO_OPTION } from '../../cli/exit-zero-on-config-error.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for schedules. */
export const CRON_COMMANDS: readonly Command[] = [
  {
    path: ['cron', 'list'],
    args: '',
    summary: 'List what fires on a schedule: when next, and how it went',
    details: `Failures, and what was skipped or missed, stand in the last column. What is wrong in config/crons.toml is said on
standard error, with its line.`,
    options: [JSON_OPTION],
    examples: ['crabtalk cron list', "crabtalk cron list --json | jq '.entries[].next'"],
    load: async () => (await import('./list.ts')).listCronEntriesCommand,
  },
  {
    path: ['cron', 'add'],
    args: '<schedule> <says>',
    summary: 'Have something said to an agent on a schedule',
    details: `SCHEDULE has six fields: second, minute, hour, day of the month, month, day of the week; without the second it has five,
and @hourly, @daily, @weekly and @monthly are known. Times are those of the clock here. SAYS is /SKILL, with or without
words that go along, or what an agent is to be told. Prints the next three times.`,
    options: [
      AGENT_OPTION,
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        fallback: 'cron',
        summary: 'Whose conversation it is said in',
      },
      {
        name: 'quiet',
        value: 'FROM-TO',
        summary: 'Skip what falls between these times, such as 23:00-07:00',
      },
      { name: 'once', summary: 'Only the first time' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk cron add "0 */2 * * * *" "Say what is new" --quiet 23:00-07:00',
      'crabtalk cron add "0 30 9 * * MON-FRI" "What stands in my notes for today?" -s today',
    ],
    load: async () => (await import('./add.ts')).addCronEntryCommand,
  },
  {
    path: ['cron', 'remove'],
    args: '<id>',
    kinds: ['cron'],
    summary: 'Remove an entry',
    options: [],
    examples: ['crabtalk cron remove 1'],
    load: async () => (await import('./remove.ts')).removeCronEntryCommand,
  },
  {
    path: ['cron', 'next'],
    args: '[entry]',
    kinds: ['cron'],
    summary: 'Show the coming times of one entry, of all, or of a schedule',
    details: 'ENTRY is an id, or a schedule that is to be tried. Quiet hours are left out.',
    options: [{ name: 'count', short: 'n', value: 'N', fallback: '10', summary: 'How many' }, JSON_OPTION],
    examples: ['crabtalk cron next', 'crabtalk cron next "0 0 9 * * MON" -n 3'],
    load: async () => (await import('./next.ts')).listNextFiresCommand,
  },
  {
    path: ['cron', 'run'],
    args: '[id]',
    kinds: ['cron'],
    summary: 'Be the scheduler, in the foreground; with an id, fire that entry now',
    details: `The scheduler is a process of its own and a client like any other: it uses the daemon where one runs, at each time anew,
and does without where none does. It takes up changes of config/crons.toml within 2 s, and writes logs/cron.log. SIGTERM
and SIGINT let running turns end for 10 s. With an ID the answer is printed; cron list tells of it, and counts nothing.`,
    options: [
      {
        name: 'env-file',
        value: 'FILE',
        kind: 'file',
        summary: 'Lay KEY=VALUE lines under the environment; the file need not exist',
      },
      EXIT_ZERO_OPTION,
      { name: 'verbose', short: 'v', summary: 'With an id: a line for each tool call' },
    ],
    examples: ['crabtalk cron run 1'],
    load: async () => (await import('./run.ts')).runCronCommand,
  },
]
