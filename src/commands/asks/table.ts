import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for the questions of agents. */
export const ASKS_COMMANDS: readonly Command[] = [
  {
    path: ['asks'],
    args: '',
    summary: 'List the questions of agents that wait for an answer',
    details: `A question stays here until it is answered, in a chat, with crabtalk answer or in another program, or until its turn ends.
Questions of clients that never said they answer questions wait five minutes.`,
    options: [
      { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only those of this agent' },
      { name: 'follow', short: 'f', summary: 'Go on with those that come, and say how each ends' },
      JSON_OPTION,
    ],
    examples: ['crabtalk asks', 'crabtalk asks --json | jq -r .[].id'],
    load: async () => (await import('./asks.ts')).listAsksCommand,
  },
  {
    path: ['answer'],
    args: '[id] [...answer]',
    kinds: ['ask'],
    summary: 'Answer a question',
    details: `ID is the id of a question, or its beginning or end. To a permission the ANSWER is the number of a choice, or "5 REASON";
to a question the number or label of an option, or your own words; to several questions one word each, in order. Without
ANSWER you are asked here. Without ID the answers come on standard input, a line each: {"id":"…","answer":"…"}.`,
    options: [
      {
        name: 'content',
        value: 'JSON',
        summary: 'The whole answer: an object from each question to a label',
      },
    ],
    examples: ['crabtalk answer 8Z4K2M0Q 1', 'crabtalk answer 8Z4K2M0Q "5 use pnpm"'],
    load: async () => (await import('./answer.ts')).answerAskCommand,
  },
]
