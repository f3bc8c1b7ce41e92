import type { Command, Option } from '../command.ts'
import { AGENT_OPTION, JSON_OPTION } from '../options.ts'

const AGENT: Option = {
  ...AGENT_OPTION,
  fallback: 'any',
  summary: 'Only what this agent may use',
}

/** Rows of the command table for skills. */
export const SKILL_COMMANDS: readonly Command[] = [
  {
    path: ['skill', 'list'],
    args: '',
    summary: 'List the skills there are, and where they come from',
    details: `A message that begins with /NAME becomes that skill, with the rest of it as arguments. What is wrong with a SKILL.md is said on
standard error, with its line.`,
    options: [AGENT, JSON_OPTION],
    examples: ['crabtalk skill list', 'crabtalk skill list --agent crab --json'],
    load: async () => (await import('./list.ts')).list,
  },
  {
    path: ['skill', 'show'],
    args: '<name>',
    kinds: ['skill'],
    summary: 'Print what a skill says',
    options: [AGENT, JSON_OPTION],
    examples: ['crabtalk skill show review'],
    load: async () => (await import('./show.ts')).show,
  },
]
