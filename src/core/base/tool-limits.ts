/**
 * The maximum number of MCP tools that are shown to a model directly; an agent with more gets tools to search
 * them (ADR 0115).
 */
export const MAX_SHOWN_MCP_TOOLS = 40

/** The maximum number of tools that a conversation has selected at one time. */
export const MAX_SELECTED_TOOLS = 24
