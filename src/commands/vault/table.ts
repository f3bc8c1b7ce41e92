import type { Command, CommandOption } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'
import { KEY_SOURCES } from '../../edge/vault/types.ts'

const PIPE_IT =
  'type crabtalk vault set NAME and enter the value at the prompt, or pipe it: pass github | crabtalk vault set GITHUB_TOKEN. A value on the command line is visible to others and stays in the history of your shell: replace it'

const KEY_OPTION: CommandOption = {
  name: 'key',
  value: 'SOURCE',
  choices: KEY_SOURCES,
  summary: 'Where its key is kept',
}

/** The rows of the command table for the vault. */
export const VAULT_COMMANDS: readonly Command[] = [
  {
    path: ['vault', 'set'],
    args: '<name>',
    isAlone: true,
    summary: 'Store a credential, encrypted',
    details: `Asks for the value, which is not shown, or reads it from standard input. The first use creates the vault. MCP servers that wait
for the credential start without a restart.`,
    options: [],
    instead: { '--value': PIPE_IT, '--token': PIPE_IT, '--key': PIPE_IT },
    surplus: PIPE_IT,
    examples: ['crabtalk vault set GITHUB_TOKEN', 'pass github | crabtalk vault set GITHUB_TOKEN'],
    load: async () => (await import('./items.ts')).setCommand,
  },
  {
    path: ['vault', 'get'],
    args: '<name>',
    isAlone: true,
    summary: 'Print a credential',
    details: 'Prints to a terminal only; --reveal prints into a pipe or a file too.',
    options: [{ name: 'reveal', summary: 'Print it even if the output is not a terminal' }],
    examples: ['crabtalk vault get GITHUB_TOKEN --reveal'],
    load: async () => (await import('./items.ts')).getCommand,
  },
  {
    path: ['vault', 'list'],
    args: '',
    isAlone: true,
    summary: 'List the names of stored credentials',
    options: [JSON_OPTION],
    examples: ['crabtalk vault list', "crabtalk vault list --json | jq -r '.[].name'"],
    load: async () => (await import('./items.ts')).listCommand,
  },
  {
    path: ['vault', 'remove'],
    args: '<name>',
    isAlone: true,
    summary: 'Remove a credential',
    options: [],
    examples: ['crabtalk vault remove GITHUB_TOKEN'],
    load: async () => (await import('./items.ts')).removeCommand,
  },
  {
    path: ['vault', 'explain'],
    args: '<...names>',
    isAlone: true,
    summary: 'Show where credentials come from, without their values',
    details: `Credentials are looked up in the vault, then in .env of the home directory, then in the environment. Exits with 1 when one is
missing.`,
    options: [JSON_OPTION],
    examples: ['crabtalk vault explain GITHUB_TOKEN'],
    load: async () => (await import('./resolve.ts')).explainCommand,
  },
  {
    path: ['vault', 'env'],
    args: '<...names>',
    isAlone: true,
    summary: 'Print credentials as JSON, for the env_helper of an MCP server',
    details: `Each is looked up as vault explain shows; on a terminal, missing ones are asked for. Fails when one is missing. VARIABLE=NAME
prints the credential NAME as VARIABLE. A text may contain credentials, and defaults for those that are missing: \${NAME}, \${NAME:-DEFAULT}.`,
    options: [],
    examples: [
      'crabtalk vault env GITHUB_TOKEN',
      'crabtalk vault env SLACK_BOT_TOKEN=SLACK_TOKEN SLACK_TEAM',
      `crabtalk vault env 'DB_URL=postgres://\${DB_USER:-me}@localhost/app'`,
    ],
    load: async () => (await import('./resolve.ts')).envCommand,
  },
  {
    path: ['vault', 'header'],
    args: '<...names>',
    isAlone: true,
    summary: 'Print a credential as it is, or as headers, for the auth_helper of an MCP server',
    details: `It is looked up as vault explain shows. A token is sent as "Authorization: Bearer TOKEN". HEADER=NAME prints JSON with another
header, also several; text before NAME is put before the credential, or contains it as \${NAME}.`,
    options: [],
    examples: [
      'crabtalk vault header GITHUB_TOKEN',
      'crabtalk vault header X-API-Key=SEARCH_KEY',
      "crabtalk vault header 'Authorization=Sentry-Bearer SENTRY_TOKEN'",
    ],
    load: async () => (await import('./resolve.ts')).headerCommand,
  },
  {
    path: ['vault', 'key'],
    args: '<provider>',
    isAlone: true,
    summary: 'Print the key of a model provider, for its key_helper in config.toml',
    details: 'crabtalk connect stores it. It is printed into a pipe; --reveal prints it to a terminal too.',
    options: [{ name: 'reveal', summary: 'Print it even if the output is a terminal' }],
    examples: ['crabtalk vault key anthropic --reveal'],
    load: async () => (await import('./provider-key.ts')).providerKeyCommand,
  },
  {
    path: ['vault', 'init'],
    args: '',
    isAlone: true,
    summary: 'Create the vault',
    details: `vault set creates it too. Its key is taken from CRABTALK_VAULT_KEY (environment) or the program in CRABTALK_VAULT_KEY_HELPER
(helper), if one is set; otherwise a new key is stored in the keychain of the system, or else in a file in ~/.config/crabtalk/vault-keys.`,
    options: [KEY_OPTION, JSON_OPTION],
    examples: ['crabtalk vault init', 'crabtalk vault init --key file'],
    load: async () => (await import('./key.ts')).initCommand,
  },
  {
    path: ['vault', 'rotate-key'],
    args: '',
    isAlone: true,
    summary: 'Encrypt the vault with a new key',
    details: `For the sources environment and helper, asks for the new key or reads it from standard input: you keep it there. For the others
a new key is created, and the old one removed.`,
    options: [{ ...KEY_OPTION, fallback: 'the same as now' }],
    examples: [
      'crabtalk vault rotate-key',
      'openssl rand -hex 32 | crabtalk vault rotate-key --key environment',
    ],
    load: async () => (await import('./key.ts')).rotateKeyCommand,
  },
  {
    path: ['vault', 'status'],
    args: '',
    isAlone: true,
    summary: 'Show where the vault and its key are, and whether the key fits',
    options: [JSON_OPTION],
    examples: ['crabtalk vault status', 'crabtalk vault status --json'],
    load: async () => (await import('./key.ts')).statusCommand,
  },
]
