/**
 * The maximum number of MCP tools that are shown to a model directly, and of the tokens of their definitions;
 * an agent with more of either gets tools to search them (ADR 0115, 0215).
 */
export const MAX_SHOWN_MCP_TOOLS = 40
export const MAX_SHOWN_MCP_TOKENS = 8_000

/** Whether an agent has too many MCP tools to show all; `costs` are the tokens of each. */
export function exceedsShownTools(costs: readonly number[]): boolean {
  return (
    costs.length > MAX_SHOWN_MCP_TOOLS || costs.reduce((sum, cost) => sum + cost, 0) > MAX_SHOWN_MCP_TOKENS
  )
}

/** The maximum number of tools that a conversation has selected at one time. */
export const MAX_SELECTED_TOOLS = 24
