import type { Option } from './command.ts'

/** Options every command has. */
export const GLOBAL: readonly Option[] = [
  { name: 'help', short: 'h', summary: 'Show help' },
  { name: 'debug', summary: 'Show where an error came from' },
]

/** The sections of the first help page: what stands in each, by the first word of its commands. */
export const SECTIONS: readonly (readonly [title: string, words: readonly string[]])[] = [
  ['Talk', ['chat', 'send', 'conversation']],
  ['Agents and what they may do', ['agent', 'mcp', 'policy']],
  ['Setting up', ['config', 'doctor', 'completions', 'version']],
]

/** What the commands that share a first word are about. */
export const GROUPS: Readonly<Record<string, string>> = {
  agent: 'Your agents',
  config: 'The configuration',
  conversation: 'What was said',
  mcp: "Agents' MCP servers",
  policy: 'Permissions',
}
