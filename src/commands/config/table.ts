import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for `crabtalk config`. */
export const CONFIG_COMMANDS: readonly Command[] = [
  {
    path: ['config', 'show'],
    args: '',
    summary: 'Show the configuration in use, with secrets hidden',
    options: [JSON_OPTION],
    examples: ['crabtalk config show'],
    load: async () => (await import('../config.ts')).showConfigCommand,
  },
  {
    path: ['config', 'path'],
    args: '',
    summary: 'Print the path of the configuration file',
    options: [],
    examples: ['$EDITOR "$(crabtalk config path)"'],
    load: async () => (await import('../config.ts')).configPathCommand,
  },
  {
    path: ['config', 'check'],
    args: '',
    summary: 'Check the configuration, every agent file and the cron entries',
    details: `Exits with 78 when there is an error; warnings alone leave the exit code 0. With --json every entry has a severity,
"error" or "warning". Files of MCP servers of the user and of this directory are checked, too: trusted or not, nothing is run.`,
    options: [JSON_OPTION],
    examples: ['crabtalk config check'],
    load: async () => (await import('../config.ts')).checkConfigCommand,
  },
  {
    path: ['config', 'get'],
    args: '<key>',
    summary: 'Print the value of a key of the configuration file, or its default',
    details: `KEY is dotted, such as tui.theme; a table of a list is named by its name: providers.NAME.base_url. Secrets are hidden.`,
    options: [JSON_OPTION],
    examples: ['crabtalk config get tui.theme', 'crabtalk config get tui --json'],
    load: async () => (await import('./get.ts')).getConfigCommand,
  },
  {
    path: ['config', 'set'],
    args: '<key> <value>',
    summary: 'Set a key of the configuration file; comments are kept',
    details: `VALUE is TOML or plain text; - reads it from standard input, so that a secret does not appear in the process list. Nothing is
written when the value is not valid. Open chats use new settings immediately.`,
    options: [],
    examples: [
      'crabtalk config set tui.theme dark',
      'crabtalk config set tui.compact_at 0.7',
      `crabtalk config set tui.status '["agent", "model", "context"]'`,
    ],
    load: async () => (await import('./set.ts')).setConfigCommand,
  },
  {
    path: ['config', 'unset'],
    args: '<key>',
    summary: 'Remove a key from the configuration file, so that its default applies',
    options: [],
    examples: ['crabtalk config unset tui.theme'],
    load: async () => (await import('./set.ts')).unsetConfigCommand,
  },
  {
    path: ['config', 'edit'],
    args: '',
    summary: 'Edit the configuration file in $EDITOR; saved only if valid',
    options: [],
    examples: ['crabtalk config edit'],
    load: async () => (await import('./edit.ts')).editConfigCommand,
  },
]
