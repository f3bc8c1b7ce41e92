import type { Command } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json, YES_OPTION as yes } from '../../cli/options.ts'
import { FOREIGN_KINDS } from '../../edge/import/foreign-kinds.ts'

/** The rows of the command table that take servers from other programs, and give them back. */
export const MCP_IMPORT_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'import'],
    args: '[...names]',
    summary: 'Import servers from other programs',
    details: `Without --from, lists the files of other programs and their servers. --from takes a program (${FOREIGN_KINDS.slice(0, 5).join(', ')},
${FOREIGN_KINDS.slice(5).join(', ')}), all, or a file. Shows what it will add and leave out, asks, and then writes
all servers in one change; secrets move into the vault. No server is started. NAMES imports only these servers. Secrets in arguments and addresses
need --scope, because only a mcp.toml fills in \${NAME} there.`,
    options: [
      agent,
      {
        name: 'scope',
        value: 'SCOPE',
        choices: ['user', 'project'],
        fallback: "the agent's file",
        summary: 'Import into the mcp.toml for every agent: your own, or that of this project',
      },
      {
        name: 'from',
        value: 'KIND|FILE',
        kind: 'file',
        known: ['all', ...FOREIGN_KINDS],
        summary: 'Import from this program or file',
      },
      { name: 'dry-run', summary: 'Only show what would be imported' },
      yes,
      json,
    ],
    examples: [
      'crabtalk mcp import',
      'crabtalk mcp import --from claude --dry-run',
      'crabtalk mcp import --from ./mcp.json -a reviewer --yes github',
      'crabtalk mcp import --from ./mcp.json --scope user --dry-run',
    ],
    load: async () => (await import('./import.ts')).importServersCommand,
  },
  {
    path: ['mcp', 'export'],
    args: '[...names]',
    kinds: ['server'],
    summary: "Print an agent's servers as the configuration of another program",
    details: `Prints no value of env, headers or tokens: they become placeholders such as \${GITHUB_TOKEN}, in the form of that program.
Standard error says what its file cannot contain.`,
    options: [
      agent,
      {
        name: 'format',
        short: 'f',
        value: 'KIND',
        choices: FOREIGN_KINDS,
        fallback: 'claude',
        summary: 'The program',
      },
    ],
    examples: ['crabtalk mcp export > .mcp.json', 'crabtalk mcp export --format vscode github'],
    load: async () => (await import('./export.ts')).exportServersCommand,
  },
]
