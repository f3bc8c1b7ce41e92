/** Tools of MCP servers that a model is shown as they are; an agent with more gets tools that find them (decision 6). */
export const MAX_SHOWN_MCP_TOOLS = 40

/** Tools that a conversation has selected at one time. */
export const MAX_SELECTED_TOOLS = 24
