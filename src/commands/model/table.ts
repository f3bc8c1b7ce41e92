import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'
import { EFFORTS } from '../../core/base/effort.ts'

/** The rows of the command table for models. */
export const MODEL_COMMANDS: readonly Command[] = [
  {
    path: ['model', 'list'],
    args: '',
    summary: 'List the models of the connected providers',
    details: 'Asks the providers for their models. The default is marked with *.',
    options: [JSON_OPTION],
    examples: ['crabtalk model list', "crabtalk model list --json | jq -r '.[].name'"],
    load: async () => (await import('./list.ts')).listModelsCommand,
  },
  {
    path: ['model', 'use'],
    args: '[name]',
    kinds: ['model'],
    summary: 'Set the default model, or that of an agent, and its reasoning effort',
    details: `Without --agent, sets the default in config.toml, for all agents that name no model. With --agent, writes the agent's file.
--effort default removes the effort; without NAME, the model is unchanged.`,
    options: [
      { name: 'agent', short: 'a', value: 'NAME', kind: 'agent', summary: 'Only for this agent' },
      {
        name: 'effort',
        value: 'LEVEL',
        choices: ['default', ...EFFORTS],
        summary: 'The reasoning effort',
      },
    ],
    examples: [
      'crabtalk model use claude-opus-5-5 --effort high',
      'crabtalk model use gpt-6-luna --agent reviewer',
    ],
    load: async () => (await import('./use.ts')).useModelCommand,
  },
]
