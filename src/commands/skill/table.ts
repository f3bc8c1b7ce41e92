import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

const AGENT: CommandOption = {
  ...AGENT_OPTION,
  fallback: 'any',
  summary: 'Only skills that this agent may use',
}

/** The rows of the command table for skills. */
export const SKILL_COMMANDS: readonly Command[] = [
  {
    path: ['skill', 'list'],
    args: '',
    summary: 'List skills and where they come from',
    details: `A message that starts with /NAME becomes that skill, with the rest of it as arguments. Errors in a SKILL.md are printed on
standard error, with their line.`,
    options: [AGENT, JSON_OPTION],
    examples: ['crabtalk skill list', 'crabtalk skill list --agent crab --json'],
    load: async () => (await import('./list.ts')).listSkillsCommand,
  },
  {
    path: ['skill', 'show'],
    args: '<name>',
    kinds: ['skill'],
    summary: 'Print the text of a skill',
    options: [AGENT, JSON_OPTION],
    examples: ['crabtalk skill show review'],
    load: async () => (await import('./show.ts')).showSkillCommand,
  },
  {
    path: ['skill', 'new'],
    args: '<name> <description>',
    summary: 'Create a skill and print the path of its file',
    details: `DESCRIPTION decides when an agent uses the skill on its own: say what it does and when to use it. Write the text of the
skill into its file.`,
    options: [],
    examples: ['crabtalk skill new changelog "Writes the changelog; for use before a release"'],
    load: async () => (await import('./new.ts')).newSkillCommand,
  },
  {
    path: ['skill', 'check'],
    args: '[folder]',
    kinds: ['folder'],
    summary: 'Check all skills, or those of a folder',
    details: `FOLDER is a skill or contains skills. Exits with 78 when one cannot be used; problems that matter only to other programs are warnings.`,
    options: [JSON_OPTION],
    examples: ['crabtalk skill check', 'crabtalk skill check --json'],
    load: async () => (await import('./check.ts')).checkSkillsCommand,
  },
]
