import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ToolSpec } from '../../core/provider/types.ts'
import { hiddenBy } from './entry-filter.ts'
import type { RemoteTool, ToolList } from './remote-tool.ts'
import { nameTools } from './tool-names.ts'

/** A declaration with the known tools of its server. */
export interface DeclaredTools {
  entry: McpEntry
  list: ToolList | undefined
}

/** A tool that is offered to an agent. */
export interface AgentTool {
  /** The name the model sees. */
  name: string
  entry: McpEntry
  tool: RemoteTool
}

/**
 * Lists the tools of an agent in the order of its declarations and of the servers; the names depend on that
 * order.
 */
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
 * Converts tools to the specifications sent to the model, in the order of `servers` and then by name. Sorting
 * keeps the request identical for the provider's cache when a server lists its tools in a different order
 * each time.
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
