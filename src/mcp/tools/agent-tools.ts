import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import { hiddenBy } from './entry-filter.ts'
import type { RemoteTool, ToolList } from './remote-tool.ts'
import { nameTools } from './tool-names.ts'

/** A declaration, and what its server has as far as anybody knows. */
export interface DeclaredTools {
  entry: McpEntry
  list: ToolList | undefined
}

/** A tool that an agent gets. */
export interface AgentTool {
  /** What the model sees. */
  name: string
  entry: McpEntry
  tool: RemoteTool
}

/** The tools an agent gets, in the order of declarations and of servers; names depend on that order. */
export function listAgentTools(declared: readonly DeclaredTools[]): AgentTool[] {
  const offered = declared.map(({ entry, list }) => {
    return { entry, tools: (list?.tools ?? []).filter(({ name }) => hiddenBy(entry, name) === '') }
  })
  const names = nameTools(
    offered.map(({ entry, tools }) => ({ name: entry.name, tools: tools.map(({ name }) => name) })),
  )
  return offered.flatMap(({ entry, tools }, i) => {
    return tools.map((tool, j): AgentTool => ({ name: names[i]![j]!, entry, tool }))
  })
}

/**
 * Tools as the model sees them, servers in this order: sorted, as some servers list theirs in another order each time, and
 * the same text again would then be new to a provider's cache.
 */
export function toSpecs(servers: readonly string[], tools: readonly AgentTool[]): ToolSpec[] {
  const places = new Map(servers.map((name, place) => [name, place]))
  const getPosition = ({ entry }: AgentTool) => places.get(entry.name) ?? places.size
  return tools
    .toSorted((a, b) => getPosition(a) - getPosition(b) || (a.name < b.name ? -1 : 1))
    .map(({ name, tool, entry }) => ({
      name,
      description: tool.description,
      parameters: tool.inputSchema,
      alias: tool.name,
      server: entry.name,
    }))
}
