import type { Command, CommandOption } from '../../cli/command.ts'
import { AGENT_OPTION, JSON_OPTION } from '../../cli/options.ts'

const PLACE_OPTIONS: readonly CommandOption[] = [
  { ...AGENT_OPTION, summary: 'The agent whose file contains the rule' },
  { name: 'all-agents', summary: 'The rule is in config.toml, for every agent' },
  {
    name: 'class',
    value: 'CLASS',
    choices: ['unattended', 'remote'],
    fallback: 'your own turns',
    summary: 'The class of turns that the rule applies to',
  },
]

/** The rows of the command table for permission rules. */
export const POLICY_COMMANDS: readonly Command[] = [
  {
    path: ['policy', 'list'],
    args: '',
    summary: 'List the active permission rules of an agent',
    details: `Lists the rules of the agent's file, of its MCP servers and of config.toml; with --sender also those of a
conversation. docs/permissions.md says what is allowed without a rule.`,
    options: [
      AGENT_OPTION,
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        summary: 'Also list the rules of the conversation of this sender',
      },
      JSON_OPTION,
    ],
    examples: ['crabtalk policy list', 'crabtalk policy list --json | jq -r .[].rule'],
    load: async () => (await import('./rules.ts')).listRulesCommand,
  },
  {
    path: ['policy', 'add'],
    args: '<rule>',
    kinds: ['rule'],
    summary: 'Add a permission rule',
    details: `Writes the rule into the agent's file; comments are kept. The rule read_only_commands with --effect ask makes the agent ask
before commands that only read.`,
    options: [
      {
        name: 'effect',
        value: 'EFFECT',
        choices: ['allow', 'ask', 'deny'],
        fallback: 'allow',
        summary: 'The effect of the rule',
      },
      ...PLACE_OPTIONS,
    ],
    examples: [
      "crabtalk policy add 'bash(npm test *)'",
      "crabtalk policy add 'read(.env)' --effect deny --all-agents",
    ],
    load: async () => (await import('./rules.ts')).addRuleCommand,
  },
  {
    path: ['policy', 'remove'],
    args: '<rule>',
    kinds: ['rule'],
    summary: 'Remove a permission rule',
    options: [
      {
        name: 'effect',
        value: 'EFFECT',
        choices: ['allow', 'ask', 'deny'],
        fallback: 'the one it has',
        summary: 'The effect of the rule',
      },
      ...PLACE_OPTIONS,
    ],
    examples: ["crabtalk policy remove 'bash(npm test *)'"],
    load: async () => (await import('./rules.ts')).removeRuleCommand,
  },
  {
    path: ['policy', 'why'],
    args: '<call>',
    summary: 'Show whether a tool call would be allowed, and why',
    details: `CALL is the name of a tool, followed in parentheses by its command, its path, or its arguments as a JSON object.
Exits with 0 for every decision; programs read it with --json.`,
    options: [
      AGENT_OPTION,
      {
        name: 'sender',
        short: 's',
        value: 'NAME',
        kind: 'sender',
        summary: 'Evaluate as a call in this conversation',
      },
      {
        name: 'cwd',
        value: 'DIR',
        kind: 'folder',
        fallback: 'this directory',
        summary: 'Evaluate as a call in this directory',
      },
      {
        name: 'add-dir',
        value: 'DIR',
        kind: 'folder',
        summary: 'Evaluate with this directory added (repeatable)',
      },
      {
        name: 'allow',
        value: 'RULE',
        kind: 'rule',
        summary: 'Add this allow rule (repeatable)',
      },
      {
        name: 'deny',
        value: 'RULE',
        kind: 'rule',
        summary: 'Add this deny rule (repeatable)',
      },
      {
        name: 'ask',
        value: 'RULE',
        kind: 'rule',
        summary: 'Add this ask rule (repeatable)',
      },
      {
        name: 'mode',
        value: 'MODE',
        choices: ['ask', 'edits', 'plan', 'read-only', 'all'],
        fallback: "the agent's, else ask",
        summary: 'Evaluate as a turn in this mode',
      },
      { name: 'yolo', summary: 'Evaluate as if everything not denied were allowed' },
      JSON_OPTION,
    ],
    examples: [
      "crabtalk policy why 'bash(rm -rf build)'",
      "crabtalk policy why 'edit(src/a.ts)' --allow 'edit(src/**)'",
      'crabtalk policy why mcp__fs__write_file --json | jq -r .effect',
    ],
    load: async () => (await import('./why.ts')).explainPolicyCommand,
  },
]
