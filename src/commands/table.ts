import type { Command, CommandOption } from '../cli/command.ts'
import { JSON_OPTION, YES_OPTION } from '../cli/options.ts'
import { ASKS_COMMANDS } from './asks/table.ts'
import { CHAT_COMMANDS } from './chat/table.ts'
import { completionCommands } from './completions/table.ts'
import { CONFIG_COMMANDS } from './config/table.ts'
import { CONNECT_COMMANDS } from './connect/table.ts'
import { CONVERSATION_COMMANDS } from './conversation/table.ts'
import { CRON_COMMANDS } from './cron/table.ts'
import { DAEMON_COMMANDS } from './daemon/table.ts'
import { EVENTS_COMMANDS } from './events/table.ts'
import { FOLLOW_COMMANDS } from './follow/table.ts'
import { MCP_COMMANDS } from './mcp/table.ts'
import { MEMORY_COMMANDS } from './memory/table.ts'
import { MODEL_COMMANDS } from './model/table.ts'
import { POLICY_COMMANDS } from './policy/table.ts'
import { SEND_COMMANDS } from './send/table.ts'
import { SKILL_COMMANDS } from './skill/table.ts'
import { SUPERVISE_COMMANDS } from './supervise/table.ts'
import { TOKEN_COMMANDS } from './token/table.ts'
import { TRUST_COMMANDS } from './trust/table.ts'
import { USAGE_COMMANDS } from './usage/table.ts'
import { VAULT_COMMANDS } from './vault/table.ts'

/** The options of `agent create` and `agent edit` for the parts of an agent. */
const agentKeys: readonly CommandOption[] = [
  { name: 'description', value: 'TEXT', summary: 'The description of the agent' },
  {
    name: 'model',
    short: 'm',
    value: 'NAME',
    kind: 'model',
    summary: 'The model; an empty value means the default model',
  },
  { name: 'prompt', short: 'p', value: 'TEXT', summary: 'The prompt; @FILE reads a file, @- standard input' },
  { name: 'set', value: 'KEY=VALUE', summary: 'Set a key of the agent file; VALUE is TOML (repeatable)' },
]

/** The command table of `crabtalk`. */
export const CRABTALK: readonly Command[] = [
  ...CHAT_COMMANDS,
  ...CONNECT_COMMANDS,
  ...SEND_COMMANDS,
  ...FOLLOW_COMMANDS,
  ...ASKS_COMMANDS,
  ...EVENTS_COMMANDS,
  {
    path: ['agent', 'list'],
    args: '',
    summary: 'List agents',
    options: [JSON_OPTION],
    examples: ['crabtalk agent list --json'],
    load: async () => (await import('./agent/commands.ts')).listAgentsCommand,
  },
  {
    path: ['agent', 'show'],
    args: '[name]',
    kinds: ['agent'],
    summary: 'Show an agent: its configuration and its prompt',
    options: [JSON_OPTION],
    examples: ['crabtalk agent show crab'],
    load: async () => (await import('./agent/commands.ts')).showAgentCommand,
  },
  {
    path: ['agent', 'create'],
    args: '<name>',
    summary: 'Create an agent',
    options: [...agentKeys, JSON_OPTION],
    examples: ['crabtalk agent create reviewer --prompt "You review code. Be brief."'],
    load: async () => (await import('./agent/commands.ts')).createAgentCommand,
  },
  {
    path: ['agent', 'edit'],
    args: '<name>',
    kinds: ['agent'],
    summary: 'Change an agent, in $EDITOR or by options',
    options: [...agentKeys, JSON_OPTION],
    examples: ['crabtalk agent edit reviewer --set max_iterations=30'],
    load: async () => (await import('./agent/commands.ts')).editAgentCommand,
  },
  {
    path: ['agent', 'rename'],
    args: '<old> <new>',
    kinds: ['agent'],
    summary: 'Rename an agent; its conversations stay with it',
    options: [JSON_OPTION],
    examples: ['crabtalk agent rename reviewer critic'],
    load: async () => (await import('./agent/commands.ts')).renameAgentCommand,
  },
  {
    path: ['agent', 'delete'],
    args: '<name>',
    kinds: ['agent'],
    summary: 'Delete an agent; its conversations stay',
    details:
      'Asks first, because its configuration and prompt cannot be restored. Without a terminal, --yes is required.',
    options: [YES_OPTION],
    examples: ['crabtalk agent delete critic --yes'],
    load: async () => (await import('./agent/commands.ts')).removeAgentCommand,
  },
  ...MODEL_COMMANDS,
  ...CONVERSATION_COMMANDS,
  ...USAGE_COMMANDS,
  ...MEMORY_COMMANDS,
  ...SKILL_COMMANDS,
  ...MCP_COMMANDS,
  ...CRON_COMMANDS,
  ...DAEMON_COMMANDS,
  ...TOKEN_COMMANDS,
  ...VAULT_COMMANDS,
  ...POLICY_COMMANDS,
  ...TRUST_COMMANDS,
  ...CONFIG_COMMANDS,
  {
    path: ['doctor'],
    args: '',
    summary: 'Check the whole setup, and say how to fix what is wrong',
    details: `Checks the program, the home directory, the configuration, the model, permissions, MCP servers, the terminal and
completions. Spends no tokens and changes nothing. Takes at most 5 s, with --deep 60 s. Exits with 1 when there is a
problem; warnings alone do not count. Prints no secrets.`,
    options: [{ name: 'deep', summary: 'Also start the MCP servers of every agent' }, JSON_OPTION],
    examples: [
      'crabtalk doctor',
      `crabtalk doctor --json | jq -r '.checks[] | select(.status != "ok") | .message'`,
    ],
    load: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  },
  ...SUPERVISE_COMMANDS,
  ...completionCommands('crabtalk'),
  {
    path: ['licenses'],
    args: '[name]',
    summary: 'List the software inside this program, and its licenses',
    details: `With NAME, prints the full text of that license, and its notice where it has one.`,
    options: [{ name: 'text', summary: 'Print the full texts of all licenses' }, JSON_OPTION],
    examples: ['crabtalk licenses', 'crabtalk licenses ripgrep', 'crabtalk licenses --text | less'],
    load: async () => (await import('./licenses/licenses.ts')).licensesCommand,
  },
  {
    path: ['version'],
    args: '',
    summary: 'Print the version',
    options: [],
    examples: ['crabtalk version'],
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
