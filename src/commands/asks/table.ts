import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for the questions of agents. */
export const ASKS_COMMANDS: readonly Command[] = [
  {
    path: ['asks'],
    args: '',
    summary: 'List the pending questions of agents',
    details: `A question stays pending until it is answered (in a chat, with crabtalk answer, or by another program) or its turn ends.
Questions in turns of clients that did not offer to answer questions close after five minutes.`,
    options: [
      { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only questions of this agent' },
      { name: 'follow', short: 'f', summary: 'Keep running: show new questions, and how each one ends' },
      JSON_OPTION,
    ],
    examples: ['crabtalk asks', 'crabtalk asks --json | jq -r .[].id'],
    needsDaemon: true,
    load: async () => (await import('./asks.ts')).listAsksCommand,
  },
  {
    path: ['answer'],
    args: '[id] [...answer]',
    kinds: ['ask'],
    summary: 'Answer a question',
    details: `ID is the id of a question, or the beginning or end of one. For a permission, ANSWER is the number of a choice, or
"5 REASON"; for a question, the number or label of an option, or your own words; for several questions, one word each, in
order. Without ANSWER you are asked on this terminal. Without ID, answers are read from standard input, one per line:
{"id":"…","answer":"…"}.`,
    options: [
      {
        name: 'content',
        value: 'JSON',
        summary: 'The complete answer: a JSON object that maps each question to a label',
      },
      {
        name: 'arguments',
        value: 'JSON',
        summary: 'Run the call with these arguments instead; only with the answer 1 to a permission',
      },
    ],
    examples: [
      'crabtalk answer 8Z4K2M0Q 1',
      'crabtalk answer 8Z4K2M0Q "5 use pnpm"',
      `crabtalk answer 8Z4K2M0Q 1 --arguments '{"command":"npm test"}'`,
    ],
    needsDaemon: true,
    load: async () => (await import('./answer.ts')).answerAskCommand,
  },
]
