import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for usage. */
export const USAGE_COMMANDS: readonly Command[] = [
  {
    path: ['usage'],
    args: '',
    summary: 'Show the tokens and cost of stored conversations',
    details: `Adds up the turns of all stored conversations at current prices. WHEN is a date
(2026-03-01) or an age: 7d, 2w, 6mo. The bars compare costs, or tokens if a price is unknown. Deleted conversations, side
questions and turns of send --no-save are not counted. --json prints every combination of day, model, agent and directory.`,
    options: [
      { name: 'by', value: 'GROUP', fallback: 'day', summary: 'Group by day, model, agent or directory' },
      { name: 'since', value: 'WHEN', fallback: '30d', summary: 'Only turns since then' },
      JSON_OPTION,
    ],
    examples: [
      'crabtalk usage',
      'crabtalk usage --by model --since 7d',
      'crabtalk usage --by directory --since 1y',
    ],
    load: async () => (await import('./usage.ts')).usageCommand,
  },
]
