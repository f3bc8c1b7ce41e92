import { sanitize } from '../../core/base/sanitize.ts'
import { MAX_SHOWN_MCP_TOOLS } from '../../core/base/tool-limits.ts'
import { findEntry } from '../../core/config/mcp-declaration.ts'
import {
  type McpAgentView,
  McpPeerState,
  type McpServerView,
  type McpToolView,
} from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { isShown } from '../../mcp/tools/shown-tools.ts'
import type { Run } from '../command.ts'
import type { Host } from '../host.ts'
import { printJson, printTable } from '../print.ts'
import { attachServers } from './attach-servers.ts'
import { viewedAgent } from './change.ts'
import { count, grouped } from './figures.ts'

/** `crabtalk mcp cost`: what the tools of servers cost an agent in every request, dearest first; nothing is started. */
export const cost: Run = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const [name] = options.args
  const { agents } = await request(attached.dispatch, 'mcpView', { agent: viewedAgent(options) }, signal)
  const views = agents.map((view) => ({ ...view, servers: dearestFirst(serversOf(view, name)) }))
  if (options.has('json')) return printJson(host, views.map(toJson))
  const isAll = options.has('all')
  const rows = views.flatMap((view) => {
    const found = name === undefined ? view.servers.map(toRow) : view.servers.flatMap(toolRows)
    return found.map((row) => [...(isAll ? [view.agent] : []), ...row])
  })
  const header = name === undefined ? ['SERVER', 'TOOLS', 'TOKENS'] : ['TOOL', 'TOKENS']
  if (rows.length > 0) await printTable(host, isAll ? ['AGENT', ...header] : header, rows)
  if (rows.length > 0) host.stdout.write('\n')
  for (const view of views) tell(host, view, name)
  return 0
}

function serversOf(view: McpAgentView, name: string | undefined): McpServerView[] {
  return name === undefined ? view.servers : [findEntry(view.agent, view.servers, name)]
}

function dearestFirst<T extends { schemaTokens: number }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => b.schemaTokens - a.schemaTokens)
}

function toolsOf({ tools }: McpServerView): McpToolView[] {
  return dearestFirst(tools.filter(isShown))
}

function toRow(server: McpServerView): string[] {
  const { name, listed, schemaTokens } = server
  return listed ? [name, `${toolsOf(server).length}`, grouped(schemaTokens)] : [name, '-', '-']
}

function toolRows(server: McpServerView): string[][] {
  return toolsOf(server).map(({ name, schemaTokens }) => [name, grouped(schemaTokens)])
}

/** The sum, in a sentence; what is not known to standard error. */
function tell(host: Host, view: McpAgentView, name: string | undefined): void {
  const { agent, servers } = view
  const unknown = servers.filter(({ listed, state }) => !listed && state !== McpPeerState.DISABLED)
  for (const server of unknown) {
    const hint = `crabtalk mcp ping ${server.name} -a ${agent} finds out`
    host.stderr.write(sanitize(`crabtalk: nobody knows yet what ${server.name} has: ${hint}\n`))
  }
  if (servers.length === 0) host.stderr.write(sanitize(`${agent} has no servers\n`))
  else host.stdout.write(sanitize(`${name === undefined ? totalOf(view) : shareOf(view, servers[0]!)}\n`))
}

function totalOf({ agent, servers, schemaTokens, grouped: isGrouped }: McpAgentView): string {
  const all = servers.reduce((sum, server) => sum + server.schemaTokens, 0)
  const tools = servers.flatMap(toolsOf).length
  if (!isGrouped) return `${count(tools, 'tool')} cost ${agent} ${tokens(all)} in every request`
  const groups = `${agent} has more than ${MAX_SHOWN_MCP_TOOLS} MCP tools, and begins with groups of them`
  return `${groups}: ${tokens(schemaTokens)} in every request, where all ${count(tools, 'tool')} would cost ${tokens(all)}`
}

function shareOf(view: McpAgentView, server: McpServerView): string {
  const rest = view.grouped ? ', once it selects them' : ' in every request'
  return `${count(toolsOf(server).length, 'tool')} of ${server.name} cost ${view.agent} ${tokens(server.schemaTokens)}${rest}`
}

function tokens(amount: number): string {
  return `about ${grouped(amount)} ${amount === 1 ? 'token' : 'tokens'}`
}

function toJson({ agent, schemaTokens, grouped: isGrouped, servers }: McpAgentView) {
  return {
    agent,
    tokens: schemaTokens,
    grouped: isGrouped,
    servers: servers.map((server) => ({
      name: server.name,
      tokens: server.listed ? server.schemaTokens : null,
      tools: toolsOf(server).map(({ name, remoteName, schemaTokens: tokens }) => ({
        name,
        remote_name: remoteName,
        tokens,
      })),
    })),
  }
}
