import { KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { findEntry } from '../../core/config/mcp-declaration.ts'
import { formatPath } from '../../core/config/problem.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import { findUnfilled } from '../../core/config/unfilled-values.ts'
import { isShown } from '../../mcp/tools/shown-tools.ts'
import type { Run } from '../command.ts'
import type { Host } from '../host.ts'
import { printJson, printTable } from '../print.ts'
import { attachServers } from './attach-servers.ts'
import { agentOf, viewedAgent } from './change.ts'
import { findIdlePatterns } from './idle-patterns.ts'
import { toJsonTool } from './rows.ts'
import { type Declared, readAllServers, readServers, targetOf, transportOf } from './servers.ts'
import { unfilledTexts, warn } from './unfilled.ts'

export const list: Run = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const isAll = viewedAgent(options) === ''
  const { servers, problems } = isAll
    ? await readAllServers(attached.dispatch, signal)
    : { servers: await readServers(attached.dispatch, agentOf(options), signal), problems: [] }
  if (options.has('json')) printJson(host, servers.map(toJsonRow))
  else await printServers(host, servers, isAll)
  for (const problem of problems) host.stderr.write(sanitize(`crabtalk: ${problem}\n`))
  return problems.length > 0 ? KINDS.config.exit : 0
}

export const get: Run = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const agent = agentOf(options)
  const servers = await readServers(attached.dispatch, agent, signal)
  const name = options.args[0] ?? ''
  findEntry(
    agent,
    servers.map(({ entry }) => entry),
    name,
  )
  const server = servers.find(({ entry }) => entry.name === name)!
  if (options.has('json')) return printJson(host, toJson(server))
  host.stdout.write(host.stdout.isTerminal ? sanitize(toText(server)) : toText(server))
  return 0
}

async function printServers(host: Host, servers: readonly Declared[], isAll: boolean): Promise<void> {
  if (servers.length === 0) {
    host.stderr.write('No servers yet; add one with crabtalk mcp add NAME -- COMMAND\n')
    return
  }
  const header = ['NAME', 'STATE', 'TOOLS', 'TRANSPORT', 'COMMAND']
  const rows = servers.map((server) => [...(isAll ? [server.agent] : []), ...toRow(server)])
  await printTable(host, isAll ? ['AGENT', ...header] : header, rows)
  for (const server of servers) {
    const { entry, error } = server
    if (error !== '') host.stderr.write(`crabtalk: ${entry.name}: ${sanitize(error)}\n`)
    for (const { message, hint } of warningsOf(server)) warn(host, message, hint)
  }
}

function warningsOf(server: Declared) {
  return [...unfilledTexts(server), ...findIdlePatterns(server)]
}

function toRow({ entry, state, tools }: Declared): string[] {
  return [entry.name, state, countOf(tools), transportOf(entry), targetOf(entry)]
}

/** How many tools the agent gets, and of how many where that is not all. */
function countOf(tools: Declared['tools']): string {
  if (!tools) return '-'
  const shown = tools.filter(isShown).length
  return shown === tools.length ? `${shown}` : `${shown} of ${tools.length}`
}

/** A comment on what is known, then the entry as it stands in the file. */
function toText(server: Declared): string {
  const { agent, entry, source, state, error, lastErrorAt, tools } = server
  const known = tools ? `${countOf(tools)} tools` : 'tools not known yet'
  const lines = [`# ${entry.name} of ${agent}: ${source}`, `# ${state}, ${known}`]
  if (error !== '') lines.push(`# ${error}${lastErrorAt && `, ${lastErrorAt}`}`)
  for (const { message } of warningsOf(server)) lines.push(`# ${message}`)
  return `${lines.join('\n')}\n\n${renderToml({ mcps: [entry] })}`
}

function toJsonRow(server: Declared) {
  const { agent, entry, source, state, error, tools } = server
  const { command = null, args = [], url } = entry
  return {
    agent,
    name: entry.name,
    state,
    error: error || null,
    tools: tools ? tools.filter(isShown).length : null,
    transport: transportOf(entry),
    command,
    args,
    url: url ?? null,
    source,
  }
}

function toJson(server: Declared) {
  const { agent, entry, source, state, error, lastErrorAt, fingerprint, protocolVersion, tools } = server
  return {
    agent,
    name: entry.name,
    source,
    state,
    error: error || null,
    last_error_at: lastErrorAt || null,
    transport: transportOf(entry),
    fingerprint,
    protocol: protocolVersion || null,
    entry,
    placeholders: findUnfilled(entry).map(({ path, placeholder }) => ({
      key: formatPath(path),
      placeholder,
    })),
    tools: tools?.map((tool) => toJsonTool(entry.name, tool)) ?? null,
  }
}
