import { requireConsent } from '../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printLine, printTable } from '../../cli/print.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import type { AgentInfo } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { readAgentChanges } from './changes.ts'

/** Runs `crabtalk agent list`; exits with the code of `config` when an agent file is invalid. */
export const listAgentsCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  // creates the default agent, so that it is listed
  await request(attached.dispatch, 'getAgent', { name: DEFAULT_AGENT }, signal)
  const { agents, problems } = await request(attached.dispatch, 'listAgents', {}, signal)
  for (const problem of problems) host.stderr.write(sanitize(`crabtalk: ${problem}\n`))
  if (options.has('json')) printJson(host, agents.map(toJson))
  else await printTable(host, ['NAME', 'MODEL', 'TOOLS', 'MCP', 'DESCRIPTION'], agents.map(toRow))
  return problems.length > 0 ? ERROR_KINDS.config.exit : 0
}

/** Runs `crabtalk agent show`. */
export const showAgentCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const name = options.args[0] ?? DEFAULT_AGENT
  return printAgent(host, await request(attached.dispatch, 'getAgent', { name }, signal), options.has('json'))
}

/** Runs `crabtalk agent create`. */
export const createAgentCommand: CommandHandler = async ({ options, host, signal }) => {
  const { patch = {}, prompt = '' } = (await readAgentChanges(options, host, signal)) ?? {}
  await using attached = await attach(host)
  const message = { name: options.args[0] ?? '', config: JSON.stringify(patch), prompt }
  const agent = await request(attached.dispatch, 'createAgent', message, signal)
  return options.has('json') ? printJson(host, toJson(agent)) : printLine(host, `created ${agent.name}`)
}

/** Runs `crabtalk agent edit`: applies the options or, without any, opens the agent's files in an editor. */
export const editAgentCommand: CommandHandler = async ({ options, host, signal }) => {
  const changes = await readAgentChanges(options, host, signal)
  await using attached = await attach(host)
  const name = options.args[0] ?? ''
  if (!changes) {
    const agent = await resolveAgentName(attached.dispatch, name, signal)
    requireTerminal(host)
    const { editAgentFiles } = await import('./edit-files.ts')
    const isChanged = await editAgentFiles(agent, host, signal)
    return printLine(host, isChanged ? `changed ${agent}` : `nothing changed: ${agent} is as it was`)
  }
  if (changes.prompt === '') throw emptyPrompt(name)
  const message = { name, config: JSON.stringify(changes.patch), prompt: changes.prompt ?? '' }
  const agent = await request(attached.dispatch, 'updateAgent', message, signal)
  return options.has('json') ? printJson(host, toJson(agent)) : printLine(host, `changed ${agent.name}`)
}

/** Runs `crabtalk agent rename`. */
export const renameAgentCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const [oldName = '', newName = ''] = options.args
  const agent = await request(attached.dispatch, 'renameAgent', { oldName, newName }, signal)
  return options.has('json')
    ? printJson(host, toJson(agent))
    : printLine(host, `renamed ${oldName} to ${agent.name}`)
}

/** Runs `crabtalk agent delete`. */
export const removeAgentCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const name = await resolveAgentName(attached.dispatch, options.args[0] ?? '', signal)
  const question = `Permanently delete the agent ${name}, its configuration and its prompt? Its conversations stay.`
  await requireConsent(question, { task: `delete ${name}`, options, host }, signal)
  await request(attached.dispatch, 'deleteAgent', { name }, signal)
  return printLine(host, `deleted ${name}; its conversations stay`)
}

/**
 * Resolves an agent's own spelling of a name. The name of an agent with a broken file is used as it is, so
 * that the file can be fixed.
 */
async function resolveAgentName(dispatch: Dispatch, name: string, signal: AbortSignal): Promise<string> {
  try {
    return (await request(dispatch, 'getAgent', { name }, signal)).name
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'config') return name
    throw reason
  }
}

/** Returns the error for an empty prompt, which on the wire means to keep the current one. */
function emptyPrompt(name: string): CrabError {
  return new CrabError('usage', `Cannot give ${name} an empty prompt this way`, {
    hint: `empty its file: crabtalk agent edit ${name}`,
  })
}

/** Throws `usage` without a terminal for the editor. */
function requireTerminal(host: Host): void {
  if (host.stdinKind() === 'terminal') return
  throw new CrabError('usage', 'Cannot open an editor: there is no terminal', {
    hint: 'give options, for example --set model=NAME',
  })
}

function printAgent(host: Host, agent: AgentInfo, json: boolean): number {
  if (json) return printJson(host, toJson(agent))
  const { id, ...config } = JSON.parse(agent.config)
  const prompt = agent.prompt === '' ? '' : `\n${agent.prompt.trimEnd()}\n`
  host.stdout.write(sanitize(`# ${agent.name} (${id})\n\n${renderToml(config)}${prompt}`))
  return 0
}

function toJson(agent: AgentInfo) {
  return { name: agent.name, ...JSON.parse(agent.config), prompt: agent.prompt }
}

/**
 * Describes lists in words, because an empty list of tools means all tools, while an empty list of servers
 * means none.
 */
function toRow(agent: AgentInfo): string[] {
  const { tools = [] } = JSON.parse(agent.config)
  return [
    agent.name,
    agent.model || '(default)',
    tools.length === 0 ? 'all' : `only ${tools.length}`,
    agent.mcps.length === 0 ? 'none' : agent.mcps.join(', '),
    agent.description,
  ]
}
