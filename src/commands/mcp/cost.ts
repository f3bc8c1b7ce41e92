import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { groupDigits, pluralize } from '../../core/base/format.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { MAX_SHOWN_MCP_TOKENS, MAX_SHOWN_MCP_TOOLS } from '../../core/base/tool-limits.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import {
  type McpAgentView,
  McpPeerState,
  type McpServerView,
  type McpToolView,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import { attachServers } from './attach-servers.ts'
import { readViewedAgent } from './change.ts'

/**
 * Runs `crabtalk mcp cost`: prints what the tools of servers cost an agent in every request, most expensive
 * first. Starts no server.
 */
export const serverCostCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const [name] = options.args
  const { agents } = await request(attached.dispatch, 'mcpView', { agent: readViewedAgent(options) }, signal)
  const views = agents.map((view) => ({ ...view, servers: sortByCost(selectServers(view, name)) }))
  if (options.has('json')) return printJson(host, views.map(toJson))
  const isAll = options.has('all')
  const rows = views.flatMap((view) => {
    const found = name === undefined ? view.servers.map(toRow) : view.servers.flatMap(toolRows)
    return found.map((row) => [...(isAll ? [view.agent] : []), ...row])
  })
  const header = name === undefined ? ['SERVER', 'TOOLS', 'TOKENS'] : ['TOOL', 'TOKENS']
  if (rows.length > 0) await printTable(host, isAll ? ['AGENT', ...header] : header, rows)
  if (rows.length > 0) host.stdout.write('\n')
  for (const view of views) printTotal(host, view, name)
  return 0
}

function selectServers(view: McpAgentView, name: string | undefined): McpServerView[] {
  return name === undefined ? view.servers : [findMcpEntry(view.agent, view.servers, name)]
}

function sortByCost<T extends { schemaTokens: number }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => b.schemaTokens - a.schemaTokens)
}

function listByCost({ tools }: McpServerView): McpToolView[] {
  return sortByCost(tools.filter(isVisibleTool))
}

function toRow(server: McpServerView): string[] {
  const { name, listed, schemaTokens } = server
  return listed ? [name, `${listByCost(server).length}`, groupDigits(schemaTokens)] : [name, '-', '-']
}

function toolRows(server: McpServerView): string[][] {
  return listByCost(server).map(({ name, schemaTokens }) => [name, groupDigits(schemaTokens)])
}

/** Prints the sum as a sentence, and on standard error the servers whose tools are not known. */
function printTotal(host: Host, view: McpAgentView, name: string | undefined): void {
  const { agent, servers } = view
  const unknown = servers.filter(({ listed, state }) => !listed && state !== McpPeerState.DISABLED)
  for (const server of unknown) {
    const hint = `run crabtalk mcp ping ${server.name} -a ${agent}`
    host.stderr.write(sanitize(`crabtalk: the tools of ${server.name} are not known yet: ${hint}\n`))
  }
  if (servers.length === 0) host.stderr.write(sanitize(`${agent} has no servers\n`))
  else
    host.stdout.write(
      sanitize(`${name === undefined ? formatTotal(view) : formatShare(view, servers[0]!)}\n`),
    )
}

function formatTotal({ agent, servers, schemaTokens, grouped: isGrouped }: McpAgentView): string {
  const all = servers.reduce((sum, server) => sum + server.schemaTokens, 0)
  const tools = servers.flatMap(listByCost).length
  if (!isGrouped)
    return `${pluralize(tools, 'tool')} ${tools === 1 ? 'costs' : 'cost'} ${agent} ${formatTokens(all)} in every request`
  const why =
    tools > MAX_SHOWN_MCP_TOOLS
      ? `more than ${MAX_SHOWN_MCP_TOOLS} MCP tools`
      : `MCP tools of more than ${groupDigits(MAX_SHOWN_MCP_TOKENS)} tokens`
  const groups = `${agent} has ${why} and starts with groups of them`
  return `${groups}: ${formatTokens(schemaTokens)} in every request, where all ${pluralize(tools, 'tool')} would cost ${formatTokens(all)}`
}

function formatShare(view: McpAgentView, server: McpServerView): string {
  const rest = view.grouped ? ', once it selects them' : ' in every request'
  const tools = listByCost(server).length
  return `${pluralize(tools, 'tool')} of ${server.name} ${tools === 1 ? 'costs' : 'cost'} ${view.agent} ${formatTokens(server.schemaTokens)}${rest}`
}

function formatTokens(amount: number): string {
  return `about ${groupDigits(amount)} ${amount === 1 ? 'token' : 'tokens'}`
}

function toJson({ agent, schemaTokens, grouped: isGrouped, servers }: McpAgentView) {
  return {
    agent,
    tokens: schemaTokens,
    grouped: isGrouped,
    servers: servers.map((server) => ({
      name: server.name,
      tokens: server.listed ? server.schemaTokens : null,
      tools: listByCost(server).map(({ name, remoteName, schemaTokens: tokens }) => ({
        name,
        remote_name: remoteName,
        tokens,
      })),
    })),
  }
}
