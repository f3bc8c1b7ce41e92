import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import { findUnfilledValues } from '../../core/config/unfilled-values.ts'
import { formatPath } from '../../core/config/validation-issue.ts'
import { describeTarget, findIdlePatterns, inferTransport } from '../../mcp/entry-facts.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption, readViewedAgent } from './change.ts'
import { listEntryWarnings, printWarning } from './entry-warnings.ts'
import { findFileServer, toFileServerText, toJsonFileServer } from './file-servers.ts'
import { toJsonTool } from './rows.ts'
import { readAllServers, readServers, type ServerRow } from './servers.ts'
import { printSessionServers, readSessionServers, toJsonSessionServer } from './session-list.ts'

/** Runs `crabtalk mcp list`; exits as for `config` when an agent file is invalid. */
export const listServersCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const isAll = readViewedAgent(options) === ''
  const { servers, problems } = isAll
    ? await readAllServers(attached.dispatch, signal)
    : { servers: await readServers(attached.dispatch, readAgentOption(options), signal), problems: [] }
  const own = servers.map(({ entry }) => entry)
  const context = { dispatch: attached.dispatch, agent: readAgentOption(options), own }
  const session = isAll ? NO_SESSION : await readSessionServers(host, context, signal)
  if (options.has('json')) {
    printJson(host, [...servers.map(toJsonRow), ...session.entries.map(toJsonSessionServer)])
  } else {
    if (servers.length > 0 || session.entries.length === 0) await printServers(host, servers, isAll)
    if (session.entries.length > 0) await printSessionServers(host, session.entries)
  }
  for (const problem of [...problems, ...session.problems])
    host.stderr.write(sanitize(`crabtalk: ${problem}\n`))
  return problems.length > 0 ? ERROR_KINDS.config.exit : 0
}

const NO_SESSION = { entries: [], problems: [] }

/** Runs `crabtalk mcp get`. */
export const getServerCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const agent = readAgentOption(options)
  const servers = await readServers(attached.dispatch, agent, signal)
  const name = options.args[0] ?? ''
  const own = servers.map(({ entry }) => entry)
  const found = await findFileServer(name, { options, host }, own)
  if (found) {
    if (options.has('json')) return printJson(host, toJsonFileServer(found))
    const text = toFileServerText(found)
    host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
    return 0
  }
  findMcpEntry(agent, own, name)
  const server = servers.find(({ entry }) => entry.name === name)!
  if (options.has('json')) return printJson(host, toJson(server))
  host.stdout.write(host.stdout.isTerminal ? sanitize(toText(server)) : toText(server))
  return 0
}

async function printServers(host: Host, servers: readonly ServerRow[], isAll: boolean): Promise<void> {
  if (servers.length === 0) {
    host.stderr.write(
      'No servers yet; crabtalk mcp catalog lists some to install, and crabtalk mcp add NAME -- COMMAND adds any\n',
    )
    return
  }
  const header = ['NAME', 'STATE', 'TOOLS', 'TRANSPORT', 'COMMAND']
  const rows = servers.map((server) => [...(isAll ? [server.agent] : []), ...toRow(server)])
  await printTable(host, isAll ? ['AGENT', ...header] : header, rows)
  for (const server of servers) {
    const { entry, error } = server
    if (error !== '') host.stderr.write(`crabtalk: ${entry.name}: ${sanitize(error)}\n`)
    for (const { message, hint } of listWarnings(server)) printWarning(host, message, hint)
  }
}

function listWarnings(server: ServerRow) {
  return [...listEntryWarnings(server), ...findIdlePatterns(server)]
}

function toRow({ entry, state, tools }: ServerRow): string[] {
  return [entry.name, state, formatToolCount(tools), inferTransport(entry), describeTarget(entry)]
}

/** Formats how many tools the agent gets, and of how many if that is not all. */
function formatToolCount(tools: ServerRow['tools']): string {
  if (!tools) return '-'
  const shown = tools.filter(isVisibleTool).length
  return shown === tools.length ? `${shown}` : `${shown} of ${tools.length}`
}

/** Renders what is known as a comment, then the entry as it is in the file. */
function toText(server: ServerRow): string {
  const { agent, entry, source, state, error, lastErrorAt, tools } = server
  const known = tools ? `${formatToolCount(tools)} tools` : 'tools not known yet'
  const lines = [`# ${entry.name} of ${agent}: ${source}`, `# ${state}, ${known}`]
  if (error !== '') lines.push(`# ${error}${lastErrorAt && `, ${lastErrorAt}`}`)
  for (const { message } of listWarnings(server)) lines.push(`# ${message}`)
  return `${lines.join('\n')}\n\n${renderToml({ mcps: [entry] })}`
}

function toJsonRow(server: ServerRow) {
  const { agent, entry, source, state, error, tools } = server
  const { command = null, args = [], url } = entry
  return {
    agent,
    name: entry.name,
    state,
    error: error || null,
    tools: tools ? tools.filter(isVisibleTool).length : null,
    transport: inferTransport(entry),
    command,
    args,
    url: url ?? null,
    source,
  }
}

function toJson(server: ServerRow) {
  const { agent, entry, source, state, error, lastErrorAt, fingerprint, protocolVersion, tools } = server
  return {
    agent,
    name: entry.name,
    source,
    state,
    error: error || null,
    last_error_at: lastErrorAt || null,
    transport: inferTransport(entry),
    fingerprint,
    protocol: protocolVersion || null,
    entry,
    placeholders: findUnfilledValues(entry).map(({ path, placeholder }) => ({
      key: formatPath(path),
      placeholder,
    })),
    tools: tools?.map((tool) => toJsonTool(entry.name, tool)) ?? null,
  }
}
