import type { AgentConfig } from './agent-schema.ts'
import type { McpEntry } from './mcp-entry.ts'

/**
 * The owner of discovered components, in addition to the agents that use them. No agent can have this id or
 * name.
 */
export const DISCOVERY: Pick<AgentConfig, 'id' | 'name'> = { id: 'discovery', name: '(discovery)' }

/**
 * Returns the MCP entry for a component's port file (ADR 0117), in the form of an agent's own entry. `key` is
 * its bearer token.
 */
export function componentEntry({ name, port, key }: { name: string; port: number; key?: string }): McpEntry {
  return {
    name,
    url: `http://127.0.0.1:${port}/mcp`,
    ...(key !== undefined && { auth: key }),
    startup_timeout_ms: STARTUP_MS,
    origin: { port_file: `run/${name}.port` },
  }
}

/** Returns the port file of an entry, relative to the home; undefined for an entry that an agent declares. */
export function getPortFile({ origin }: Pick<McpEntry, 'origin'>): string | undefined {
  const file = origin?.['port_file']
  return typeof file === 'string' ? file : undefined
}

/** Whether an agent uses the component of that name. */
export function wantsComponent(
  { components = false }: Pick<AgentConfig, 'components'>,
  name: string,
): boolean {
  return typeof components === 'boolean' ? components : components.includes(name)
}

/**
 * The time limit for a component to answer. It already runs on this machine, so one that is slower is not an
 * MCP server.
 */
const STARTUP_MS = 3_000
