import type { ToolGroup } from '../../core/runtime/hook.ts'
import type { Claimed } from '../peers/peers.ts'
import type { AgentTool } from './agent-tools.ts'
import { toPrintableLine } from './remote-tool.ts'

/**
 * Creates the group of a server's tools among those of its agent; title and description come from the server
 * if it has any.
 */
export function toGroup({ entry, peer }: Claimed, tools: readonly AgentTool[]): ToolGroup {
  const own = tools.filter((tool) => tool.entry.name === entry.name)
  const { title = '', description = '', instructions = '' } = peer.memory.about ?? {}
  return {
    id: `mcp:${entry.name}`,
    title: title || `MCP server ${entry.name}`,
    description: description || describeTools(own),
    ...(instructions !== '' && { instructions }),
    tools: own.map(({ name }) => name),
    server: entry.name,
  }
}

/** Describes a server that does not describe itself. */
function describeTools(tools: readonly AgentTool[]): string {
  const named = tools.slice(0, MAX_NAMED).map(({ tool }) => toPrintableLine(tool.name))
  const more = tools.length > MAX_NAMED ? ` and ${tools.length - MAX_NAMED} more` : ''
  return `Has the tools ${named.join(', ')}${more}`
}

const MAX_NAMED = 8
