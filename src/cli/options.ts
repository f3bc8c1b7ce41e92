import { EFFORTS } from '../core/base/effort.ts'
import type { CommandOption } from './command.ts'

/** The option of commands that can print JSON. */
export const JSON_OPTION: CommandOption = { name: 'json', summary: 'Print JSON' }

/** The option of commands that ask before they delete or install something. */
export const YES_OPTION: CommandOption = { name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }

/** The option that names an agent. */
export const AGENT_OPTION: CommandOption = {
  name: 'agent',
  short: 'a',
  value: 'NAME',
  kind: 'agent',
  fallback: 'crab',
  summary: 'The agent',
}

/** The option of commands that use an MCP server without changing its declaration. */
export const SERVER_SCOPE_OPTION: CommandOption = {
  name: 'scope',
  value: 'SCOPE',
  choices: ['user', 'project'],
  fallback: 'the server of the agent, then one of a file',
  summary: 'Use the server of your own mcp.toml, or of the files of this project',
}

/** The option that sets the reasoning effort of a turn. */
export const EFFORT_OPTION: CommandOption = {
  name: 'effort',
  value: 'LEVEL',
  choices: EFFORTS,
  summary: "Reasoning effort (default: the agent's, else the one in config.toml)",
}

const IS_YOLO = '--yolo allows everything that no rule denies'

/** Hints for the permission options of other programs. */
export const FOREIGN_RULE_HINTS: Readonly<Record<string, string>> = {
  '--dangerously-skip-permissions': IS_YOLO,
  '--dangerously-bypass-approvals-and-sandbox': IS_YOLO,
  '--full-auto': '--mode edits changes files in the directory without a question',
  '--permission-mode': 'use --mode',
  '--allowedTools': 'use --allow',
  '--disallowedTools': 'use --deny',
}

/** The permission options of all commands that run a turn. */
export const RULE_OPTIONS: readonly CommandOption[] = [
  {
    name: 'add-dir',
    value: 'DIR',
    kind: 'folder',
    summary: 'Treat files in this directory like those in the working directory (repeatable)',
  },
  {
    name: 'allow',
    value: 'RULE',
    kind: 'rule',
    summary: "Allow what this rule matches, such as 'bash(git commit *)' (repeatable)",
  },
  {
    name: 'ask',
    value: 'RULE',
    kind: 'rule',
    summary: 'Ask about what this rule matches, even if others allow it (repeatable)',
  },
  {
    name: 'deny',
    value: 'RULE',
    kind: 'rule',
    summary: 'Deny what this rule matches, even if others allow it (repeatable)',
  },
  {
    name: 'mode',
    value: 'MODE',
    choices: ['ask', 'edits', 'plan', 'read-only', 'all'],
    fallback: "the agent's, else ask",
    summary: 'What runs without asking',
  },
  { name: 'yolo', summary: 'Allow everything that no rule denies; the same as --mode all' },
]
