/** The tools that agents have without a server. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...['read', 'glob', 'grep', 'edit', 'write', 'bash', 'ask_user'],
  ...['remember', 'forget', 'recall', 'search_sessions', 'skill'],
]

/** The names without `mcp__` that rules and lists of tools may have: `fetch` is reserved, the last three find tools of servers. */
export const NAMEABLE_TOOLS: readonly string[] = [
  ...BUILT_IN_TOOLS,
  ...['fetch', 'tools_groups', 'tools_select', 'tools_search'],
]
