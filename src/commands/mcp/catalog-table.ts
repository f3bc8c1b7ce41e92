import type { Command } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json } from '../../cli/options.ts'

/** The rows of the command table for the catalog of MCP servers. */
export const MCP_CATALOG_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'catalog'],
    args: '[...query]',
    summary: 'List the servers that can be installed by name',
    details: `NEEDS is what you have to give before a server works: a key, a login in the browser, or values such as an address. INSTALLED names
the agents that have it. Your own templates are files in mcp/catalog of the home directory.`,
    options: [json],
    examples: [
      'crabtalk mcp catalog',
      'crabtalk mcp catalog issues',
      "crabtalk mcp catalog --json | jq -r '.[].id'",
    ],
    load: async () => (await import('./catalog.ts')).listCatalogCommand,
  },
  {
    path: ['mcp', 'info'],
    args: '<id>',
    kinds: ['template'],
    summary: 'Show what a server of the catalog does, starts and needs',
    options: [json],
    examples: ['crabtalk mcp info filesystem'],
    load: async () => (await import('./catalog.ts')).showTemplateCommand,
  },
  {
    path: ['mcp', 'install'],
    args: '<id> [...assignments]',
    kinds: ['template'],
    summary: 'Add a server of the catalog to an agent',
    details: `Starts the server and lists its tools before it writes the entry. Credentials are taken from the vault, .env or the environment
when the server starts, and never written into the entry. At a terminal, missing ones are asked for and stored in the vault; otherwise the entry
is written and the commands to run are printed. NAME=VALUE sets a parameter; repeat it for several values.`,
    options: [
      agent,
      { name: 'name', value: 'NAME', fallback: 'its id in the catalog', summary: 'The name of the entry' },
      { name: 'print', summary: 'Print the entry and change nothing' },
      { name: 'update', summary: 'Replace an entry that you have not changed by the one of the catalog' },
      { name: 'no-verify', summary: 'Write the entry without starting the server first' },
      json,
    ],
    examples: [
      'crabtalk mcp install filesystem DIR=~/notes',
      'crabtalk mcp install -a reviewer github --print',
    ],
    load: async () => (await import('./install.ts')).installServerCommand,
  },
]
