import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { matchesPieces } from '../../core/policy/wildcard.ts'

/**
 * Returns why an entry hides a tool from its agent, by the tool's remote name; empty when it does not. An
 * empty `include` includes all tools. In both lists `*` matches anything, and `exclude` wins.
 */
export function hiddenBy({ include = [], exclude = [] }: McpEntry, tool: string): string {
  const names = (patterns: readonly string[]) =>
    patterns.find((pattern) => matchesPieces(pattern.split('*'), tool))
  const excluded = names(exclude)
  if (excluded !== undefined) return `exclude has ${excluded}`
  if (include.length > 0 && names(include) === undefined) return 'include does not have it'
  return ''
}

/** Whether an agent's model sees a tool; `hidden` says why it does not. */
export function isVisibleTool({ hidden }: { hidden: string }): boolean {
  return hidden === ''
}
