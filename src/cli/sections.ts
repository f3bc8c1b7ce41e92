import type { Command, CommandOption } from './command.ts'
import { SERVICE_PLACEHOLDER } from './service-rows.ts'

/** The options of every command. */
export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  { name: 'help', short: 'h', summary: 'Show help' },
  { name: 'debug', summary: 'Show where an error came from' },
]

/** The option of all commands that use the daemon when one is running. */
export const NO_DAEMON_OPTION: CommandOption = {
  name: 'no-daemon',
  summary: 'Run in this process even if a daemon is running',
}

/** The first words of commands that use no daemon, or are about it. */
const ALONE: ReadonlySet<string> = new Set([
  'complete',
  'completions',
  'config',
  'daemon',
  'licenses',
  'token',
  'version',
])

/** Returns every option of a command, its own first. */
export function listOptions({
  path,
  options,
  isAlone,
  needsDaemon,
}: Pick<Command, 'path' | 'options' | 'isAlone' | 'needsDaemon'>): CommandOption[] {
  const hasChoice = !isAlone && !needsDaemon && !ALONE.has(path[0]!)
  return [...options, ...(hasChoice ? [NO_DAEMON_OPTION] : []), ...GLOBAL_OPTIONS]
}

/** The titles of sections, each with the first words of its commands. */
export type HelpSections = readonly (readonly [title: string, words: readonly string[]])[]

/** The sections of the first help page of `crabtalk`. */
export const CRABTALK_SECTIONS: HelpSections = [
  ['Talk', ['chat', 'send', 'conversation', 'memory', 'usage']],
  ['Activity', ['attach', 'tail', 'wait', 'asks', 'answer', 'events', 'cron']],
  ['Agents and permissions', ['agent', 'skill', 'mcp', 'policy', 'trust']],
  [
    'Setup',
    [
      'connect',
      'model',
      'vault',
      'daemon',
      'token',
      'config',
      'doctor',
      'completions',
      'licenses',
      'version',
    ],
  ],
]

/** The sections of the first help page of `crabup`. */
export const CRABUP_SECTIONS: HelpSections = [
  ['Services', [SERVICE_PLACEHOLDER, 'ps', 'logs', 'doctor']],
  ['Components and packages', ['pull', 'update', 'rm', 'list', 'pkg']],
  ['This program', ['self', 'uninstall', 'completions', 'version']],
]

/** The summaries of the groups of commands that share a first word. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  [SERVICE_PLACEHOLDER]: 'A service, such as daemon or cron',
  agent: 'Your agents',
  config: 'The configuration',
  conversation: 'Stored conversations',
  cron: 'Messages on a schedule',
  daemon: 'The daemon',
  events: 'What agents do, and what starts them',
  mcp: 'The MCP servers of your agents',
  memory: 'What agents remember',
  model: 'The models of your providers',
  pkg: 'Packages of skills and agents',
  policy: 'Permissions',
  self: 'This installation',
  skill: 'Instructions that agents load when needed',
  token: 'Tokens of TCP clients',
  trust: 'Folders that agents may take instructions from',
  vault: 'Credentials, encrypted',
}
