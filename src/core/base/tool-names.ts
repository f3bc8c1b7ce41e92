/** The tools that agents have without an MCP server. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...['read', 'glob', 'grep', 'edit', 'write', 'bash', 'ask_user', 'todo'],
  ...['remember', 'forget', 'recall', 'search_sessions', 'skill'],
]

/**
 * The tool names without `mcp__` that may be used in rules and tool lists. `fetch` is reserved; the last
 * three find tools of MCP servers.
 */
export const NAMEABLE_TOOLS: readonly string[] = [
  ...BUILT_IN_TOOLS,
  ...['fetch', 'tools_groups', 'tools_select', 'tools_search'],
]
