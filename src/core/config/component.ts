import type { AgentConfig } from './agent-schema.ts'
import type { McpEntry } from './mcp-entry.ts'

/** The owner of what port files announce, besides the agents that ask for it; no agent has such an id or name. */
export const DISCOVERY: Pick<AgentConfig, 'id' | 'name'> = { id: 'discovery', name: '(discovery)' }

/** The server that a component's port file means (RFC 0043), as an agent would declare it. `key` is its bearer token. */
export function componentEntry({ name, port, key }: { name: string; port: number; key?: string }): McpEntry {
  return {
    name,
    url: `http://127.0.0.1:${port}/mcp`,
    ...(key !== undefined && { auth: key }),
    startup_timeout_ms: STARTUP_MS,
    origin: { port_file: `run/${name}.port` },
  }
}

/** The port file that an entry comes from, relative to the home; undefined for one that an agent declares. */
export function getPortFile({ origin }: Pick<McpEntry, 'origin'>): string | undefined {
  const file = origin?.['port_file']
  return typeof file === 'string' ? file : undefined
}

/** Whether an agent asks for the component of that name. */
export function wantsComponent(
  { components = false }: Pick<AgentConfig, 'components'>,
  name: string,
): boolean {
  return typeof components === 'boolean' ? components : components.includes(name)
}

/** It runs already, on this machine: who does not answer by then is no MCP server. */
const STARTUP_MS = 3_000
