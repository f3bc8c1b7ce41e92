import { pluralize } from '../../core/base/format.ts'
import { redactWords } from '../../core/base/secrets/redact.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { type McpPeer, type McpToolView, PolicyEffect } from '../../core/protocol/crabtalk.generated.ts'
import type { FoundServers, SessionServer } from '../../edge/entries/session-servers.ts'
import type { EdgeServer } from '../../edge/entries/types.ts'
import { describeTarget, inferTransport } from '../../mcp/entry-facts.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import { type AgentViews, type ServerRow, stateName } from './servers.ts'

/** A declared server, and who decided whether the agent gets it. */
export interface ViewedServer {
  name: string
  /** The place of the declaration: the agent's file with the line, a port file, or a mcp.toml. */
  source: string
  declaredBy: 'agent' | 'user' | 'project'
  isEffective: boolean
  /** The reason for that: the place of the declaration, or what is stronger. */
  decidedBy: string
  state: string
  /** The last error, or the reason why the server cannot be used; else empty. */
  error: string
  /** RFC 3339; else empty. */
  lastErrorAt: string
  fingerprint: string
  transport: string
  /** The command line or the address, without secrets. */
  target: string
  envNames: readonly string[]
  headerNames: readonly string[]
  /** The process or connection; undefined when there is none. */
  peer: McpPeer | undefined
  /** Undefined when they were never listed. */
  tools: readonly McpToolView[] | undefined
}

/** The servers of one agent. */
export interface ViewedAgent {
  agent: string
  /** The servers that the agent gets, in words. */
  mode: string
  generation: number
  servers: readonly ViewedServer[]
}

/** The settings of a session that decide about servers. */
export interface ViewedSession {
  /** The option or variable that turns all servers off, such as `CRABTALK_NO_MCP`; undefined when nothing does. */
  turnedOffBy: string | undefined
  /** The servers of files; undefined where there are none. */
  found: FoundServers | undefined
}

/** Describes the servers of one agent: those that it declares, then those that files give to sessions. */
export function viewAgent(views: AgentViews, agent: string, session: ViewedSession): ViewedAgent {
  const { turnedOffBy, found } = session
  const rows = views.servers.filter((row) => row.agent === agent)
  const { peers, agents } = views.view
  const own = rows.map((row) => viewOwn(row, peers, turnedOffBy))
  const info = views.infos.find(({ name }) => name === agent)
  const { tools = [] }: { tools?: string[] } = JSON.parse(info?.config ?? '{}')
  const files = found ? viewFiles(found, { agent, rows, peers, turnedOffBy }) : []
  const servers = [...own, ...files]
  const generation = agents.find((one) => one.agent === agent)?.generation ?? 0
  return { agent, mode: describeMode(servers, { turnedOffBy, tools }), generation, servers }
}

function viewOwn(row: ServerRow, peers: readonly McpPeer[], turnedOffBy: string | undefined): ViewedServer {
  const { entry, source, state, error, lastErrorAt, fingerprint, tools } = row
  const against = turnedOffBy ?? decideAgainst(row)
  return {
    name: entry.name,
    ...{ source, declaredBy: 'agent', isEffective: against === undefined, decidedBy: against ?? source },
    ...{ state, error, lastErrorAt, fingerprint, transport: inferTransport(entry), tools },
    target: describeTarget(entry),
    ...toNames(entry),
    peer: peers.find((peer) => peer.fingerprint === fingerprint && fingerprint !== ''),
  }
}

/** Returns what keeps an agent from a server that it declares; undefined when nothing does. */
function decideAgainst({ entry, source, state, error, tools }: ServerRow): string | undefined {
  if (entry.disabled === true) return `disabled = true in ${source}`
  if (state === 'invalid') return `invalid: ${error}`
  if (tools === undefined || tools.length === 0) return undefined
  const visible = tools.filter(isVisibleTool)
  if (visible.length === 0) return `no tool is left: ${tools[0]!.hidden}`
  const denied = visible.every(({ effect }) => effect === PolicyEffect.DENY)
  const { pattern, source: where } = visible[0]!.rule ?? {}
  return denied ? `denied by the rule ${pattern} of ${where}` : undefined
}

interface FileContext {
  agent: string
  rows: readonly ServerRow[]
  peers: readonly McpPeer[]
  turnedOffBy: string | undefined
}

function viewFiles({ servers, replaced }: FoundServers, context: FileContext): ViewedServer[] {
  const { turnedOffBy } = context
  const others = replaced.map(({ server, by }) => ({
    ...toFileServer(server),
    ...{ isEffective: false, decidedBy: turnedOffBy ?? `replaced by ${by.file}`, state: 'replaced' },
  }))
  return [...servers.map((one) => viewFile(one, context)), ...others]
}

function viewFile(one: SessionServer, { agent, rows, peers, turnedOffBy }: FileContext): ViewedServer {
  const { server, state, reason, entry } = one
  const entries = rows.map((row) => row.entry)
  const taken = findNameClash(entries, server.name)
  const owner = rows.find((row) => row.entry.name === taken)
  const against = turnedOffBy ?? decideAgainstFile(one, owner)
  const isUsed = against === undefined
  const isOwned = ({ owners }: McpPeer) =>
    owners.some((own) => own.agent === agent && own.name === server.name)
  const peer = isUsed ? peers.find(isOwned) : undefined
  return {
    ...toFileServer(server),
    ...(entry && toNames(entry)),
    ...{ state: state === 'ready' ? 'idle' : state, error: isUsed ? '' : reason },
    ...(peer && toPeerState(peer)),
    ...{ isEffective: isUsed, decidedBy: against ?? server.file, peer },
  }
}

/** Returns what keeps sessions from a server of a file; undefined when nothing does. */
function decideAgainstFile(
  { server, state, reason }: SessionServer,
  owner: ServerRow | undefined,
): string | undefined {
  if (state === 'untrusted') return `not trusted: ${reason}`
  if (owner) return `the agent's own ${owner.entry.name} of ${owner.source}`
  if (state === 'disabled') return `disabled = true in ${server.file}`
  return state === 'invalid' ? `invalid: ${reason}` : undefined
}

function toFileServer({ name, file, scope, table }: EdgeServer): ViewedServer {
  const { command, args = [], url, env, headers } = table
  const words = url === undefined ? [command, ...(Array.isArray(args) ? args : [args])] : [url]
  return {
    ...{ name, source: file, declaredBy: scope, isEffective: false, decidedBy: '', state: '' },
    ...{ error: '', lastErrorAt: '', fingerprint: '', transport: url === undefined ? 'stdio' : 'http' },
    target: redactWords(words.filter((word) => word !== undefined).map(String)).join(' '),
    ...toNames({ env, headers } as Pick<McpEntry, 'env' | 'headers'>),
    ...{ peer: undefined, tools: undefined },
  }
}

function toPeerState(peer: McpPeer) {
  const { fingerprint, state, transport, lastErrorAt, error } = peer
  return { fingerprint, state: stateName(state), transport, lastErrorAt, error }
}

function toNames({ env, headers }: Pick<McpEntry, 'env' | 'headers'>) {
  return {
    envNames: Object.keys(env ?? {}).toSorted(),
    headerNames: Object.keys(headers ?? {}).toSorted(),
  }
}

/** Describes in words which servers an agent gets. */
function describeMode(
  servers: readonly ViewedServer[],
  { turnedOffBy, tools }: { turnedOffBy: string | undefined; tools: readonly string[] },
): string {
  if (turnedOffBy !== undefined) return `none: ${turnedOffBy} turns them off`
  const own = servers.filter(({ declaredBy }) => declaredBy === 'agent')
  const used = own.filter(({ isEffective }) => isEffective)
  const files = servers.filter(({ declaredBy, isEffective }) => declaredBy !== 'agent' && isEffective)
  const names = used.map(({ name }) => name).join(', ')
  const ofAgent =
    own.length === 0
      ? []
      : [
          used.length === own.length
            ? 'all of its own servers'
            : `only ${names || 'none'} of its own ${pluralize(own.length, 'server')}`,
        ]
  const ofFiles = files.length === 0 ? [] : [`${pluralize(files.length, 'server')} of files`]
  const words = [...ofAgent, ...ofFiles].join(' and ') || 'none'
  return tools.length > 0 && words !== 'none' ? `${words}, with the tools that "tools" lists` : words
}
