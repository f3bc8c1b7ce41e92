import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import type { SessionPlace } from '../../edge/entries/types.ts'
import type { ServerDescription } from '../../tui/server-ports.ts'
import { readAgentViews } from '../mcp/servers.ts'
import { type ViewedServer, viewAgent } from '../mcp/view-facts.ts'
import { describeAgent, describeDecision, describeViewedServer } from '../mcp/view-text.ts'
import type { openResolver } from '../session-servers.ts'

type Resolver = ReturnType<typeof openResolver>

/** The agent to describe, or one of its servers, and the chat that asks. */
interface ViewTarget {
  agent: string
  name?: string
  dispatch: Dispatch
  /** Whether the user turned MCP servers off in this chat. */
  isOff: boolean
}

/** Describes the servers of an agent as `crabtalk mcp view` does, for the conversations of a window. */
export async function describeServers(
  { place, resolver }: { place: SessionPlace; resolver: Resolver },
  { agent, name, dispatch, isOff }: ViewTarget,
  signal: AbortSignal,
): Promise<ServerDescription> {
  const views = await readAgentViews(dispatch, agent, signal)
  const viewed = viewAgent(views, views.infos[0]!.name, {
    turnedOffBy: isOff ? '--no-mcp' : undefined,
    found: hasServerFiles(place) ? await findServers(place, resolver) : undefined,
  })
  const title = `MCP servers of ${describeAgent(viewed)}`
  const now = Date.now()
  const shown = name === undefined ? viewed.servers : viewed.servers.filter((one) => one.name === name)
  if (shown.length === 0) return { title, sections: [{ title: '', rows: [['', 'No servers.']] }] }
  const sections = shown.map((server) => ({ title: server.name, rows: describe(server, now) }))
  return { title, sections }
}

async function findServers(place: SessionPlace, resolver: Resolver) {
  const { findSessionServers } = await import('../../edge/entries/session-servers.ts')
  return await findSessionServers(place, resolver)
}

function describe(server: ViewedServer, now: number): [string, string][] {
  const rows: [string, string][] = [
    ['state', server.state],
    ['used', describeDecision(server)],
    ['declared', server.source],
  ]
  return server.isEffective ? [...rows, ...describeViewedServer(server, now)] : rows
}
