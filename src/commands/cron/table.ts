import type { Command } from '../../cli/command.ts'
import { EXIT_ZERO_OPTION } from '../../cli/exit-zero-on-config-error.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for schedules. */
export const CRON_COMMANDS: readonly Command[] = [
  {
    path: ['cron', 'list'],
    args: '',
    summary: 'List the scheduled entries, their next times and their last results',
    details: `The last column shows failures, and skipped and missed runs. Errors in config/crons.toml go to standard error, with their
lines.`,
    options: [JSON_OPTION],
    examples: ['crabtalk cron list', "crabtalk cron list --json | jq '.entries[].next'"],
    load: async () => (await import('./list.ts')).listCronEntriesCommand,
  },
  {
    path: ['cron', 'add'],
    args: '<schedule> <message>',
    summary: 'Send a message to an agent on a schedule',
    details: `SCHEDULE has six fields: second, minute, hour, day of the month, month, day of the week. The second may be left out, and
@hourly, @daily, @weekly and @monthly work too. Times are in the local time zone. MESSAGE is /SKILL, optionally followed by
arguments, or a message to the agent. Prints the next three times.`,
    options: [
      AGENT_OPTION,
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        fallback: 'cron',
        summary: 'The sender whose conversation receives it',
      },
      {
        name: 'quiet',
        value: 'FROM-TO',
        summary: 'Skip times in this range, such as 23:00-07:00',
      },
      { name: 'once', summary: 'Fire only once' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk cron add "0 */2 * * * *" "Say what is new" --quiet 23:00-07:00',
      'crabtalk cron add "0 30 9 * * MON-FRI" "What do my notes say for today?" -s today',
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
    summary: 'Show the next times of one entry, of all entries, or of a schedule',
    details: 'ENTRY is an id, or a schedule to try. Times in quiet hours are left out.',
    options: [
      { name: 'count', short: 'n', value: 'N', fallback: '10', summary: 'How many times to show' },
      JSON_OPTION,
    ],
    examples: ['crabtalk cron next', 'crabtalk cron next "0 0 9 * * MON" -n 3'],
    load: async () => (await import('./next.ts')).listNextFiresCommand,
  },
  {
    path: ['cron', 'run'],
    args: '[id]',
    kinds: ['cron'],
    summary: 'Run the scheduler in the foreground; with an id, fire that entry now',
    details: `The scheduler is a separate process and a client like any other: each time an entry fires, it uses the daemon if one is
running, and otherwise runs the turn itself. It applies changes of config/crons.toml within 2 s and writes logs/cron.log. On
SIGTERM and SIGINT it gives running turns 10 s to end. With an id, the answer is printed; cron list shows the run but does not
count it.`,
    options: [
      {
        name: 'env-file',
        value: 'FILE',
        kind: 'file',
        summary: 'Load KEY=VALUE defaults; real variables win, a missing file is ignored',
      },
      EXIT_ZERO_OPTION,
      { name: 'verbose', short: 'v', summary: 'With an id: print a line for each tool call' },
    ],
    examples: ['crabtalk cron run 1'],
    load: async () => (await import('./run.ts')).runCronCommand,
  },
]
