import { type CheckContext, type CheckResult, note, problem, warning } from '../../../cli/check.ts'
import type { AgentConfig } from '../../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../../core/config/default-name.ts'
import { findAgentServer } from '../../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../../core/config/mcp-entry.ts'
import { hasServerFiles } from '../../../edge/entries/has-server-files.ts'
import type { SessionServer } from '../../../edge/entries/session-servers.ts'
import { openResolver, toSessionPlace } from '../../session-servers.ts'

/** A server to check. */
export interface CheckedServer {
  /** Its name in findings: `fs of crab`, `docs of FILE`. */
  what: string
  /** The agent that declares it; a stand-in for a server of a file. */
  agent: Pick<AgentConfig, 'id' | 'name'>
  entry: McpEntry
  /** The options that select it in commands: `-a rev`, `--scope user`; empty for the default agent. */
  options: string
  /** The file that declares it if no agent does. */
  file?: string
}

/** The servers to check, and findings about those that cannot be. */
export interface FoundCheckedServers {
  servers: readonly CheckedServer[]
  findings: readonly CheckResult[]
}

/** The servers that the user named; empty values select all. */
export interface ServerSelection {
  agent?: string | undefined
  name?: string | undefined
}

/**
 * Finds the servers of agents, and those that files give to sessions in the working directory; of a project only
 * those of trusted files. Throws `missing` for a name that nothing declares. An invalid entry is not a server.
 */
export async function findCheckedServers(
  { host, agents }: Pick<CheckContext, 'host' | 'agents'>,
  { agent, name }: ServerSelection,
): Promise<FoundCheckedServers> {
  const files = agent === undefined ? await findFileServers(host) : []
  const isSelected = (one: { name: string }) => name === undefined || one.name === name
  const selected = agents.filter((one) => agent === undefined || one.name === agent)
  const own = selected.flatMap((one) => one.mcps.filter(isSelected).map((entry) => toAgentServer(one, entry)))
  const ofFiles = files.filter(({ server }) => isSelected(server))
  const isInvalid = selected.some(({ invalidMcps = [] }) => invalidMcps.some(isSelected))
  if (name !== undefined && own.length + ofFiles.length === 0 && !isInvalid) {
    const first = selected.find((one) => one.name === DEFAULT_AGENT) ?? selected[0] ?? NO_AGENT
    findAgentServer(agent === undefined ? first : { ...first, name: agent }, name)
  }
  return {
    servers: [...own, ...ofFiles.flatMap(toCheckedServer)],
    findings: ofFiles.flatMap(toFinding),
  }
}

async function findFileServers(host: CheckContext['host']): Promise<readonly SessionServer[]> {
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return []
  const { findSessionServers } = await import('../../../edge/entries/session-servers.ts')
  return (await findSessionServers(place, openResolver(host))).servers
}

function toAgentServer(agent: AgentConfig, entry: McpEntry): CheckedServer {
  const options = agent.name === DEFAULT_AGENT ? '' : `-a ${agent.name}`
  return { what: `${entry.name} of ${agent.name}`, agent, entry, options }
}

function toCheckedServer({ server, entry }: SessionServer): CheckedServer[] {
  const { file, scope } = server
  return entry
    ? [{ what: nameFileServer(server), agent: NO_AGENT, entry, options: `--scope ${scope}`, file }]
    : []
}

function toFinding({ server, state, reason, hint, missing }: SessionServer): CheckResult[] {
  const what = nameFileServer(server)
  if (state === 'disabled') return [note(`${what} is disabled`)]
  if (state === 'untrusted') return [note(`${what} is not checked: ${reason}`, hint)]
  if (state !== 'invalid') return []
  return [missing ? warning(`${what}: ${reason}`, hint) : problem(`${what}: ${reason}`, hint)]
}

function nameFileServer({ name, file }: SessionServer['server']): string {
  return `${name} of ${file}`
}

/** Stands for the agents whose sessions get a server of a file. */
const NO_AGENT = { id: '', name: DEFAULT_AGENT, mcps: [] }
