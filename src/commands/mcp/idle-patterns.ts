import { nearest } from '../../core/base/nearest.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { matchesPieces } from '../../core/policy/wildcard.ts'
import { isVisibleTool } from '../../mcp/tools/entry-filter.ts'
import type { ServerRow } from './servers.ts'

/** A warning, with what to do about it. */
interface Warning {
  message: string
  hint: string
}

/**
 * Finds patterns of an entry that match none of its server's tools (a `deny` pattern then leaves open what it
 * should close), and servers of which no tool reaches the agent. Finds nothing while the tools are not known.
 */
export function findIdlePatterns({
  agent,
  entry,
  tools,
}: Pick<ServerRow, 'agent' | 'entry' | 'tools'>): Warning[] {
  if (tools === undefined || tools.length === 0) return []
  const names = tools.map(({ remoteName }) => remoteName)
  const idle = listPatterns(entry).filter(({ pattern }) => {
    return !names.some((name) => matchesPieces(pattern.split('*'), name))
  })
  const warnings = idle.map(({ key, pattern }) => {
    const near = pattern.includes('*') ? undefined : nearest(pattern, names)
    const hint =
      near === undefined ? `it has ${names.slice(0, MAX_NAMES).join(', ')}` : `did you mean ${near}?`
    return { message: `${key} of ${entry.name} has ${pattern}, but no tool has that name`, hint }
  })
  if (tools.some(isVisibleTool)) return warnings
  const message = `no tool of ${entry.name} reaches ${agent}: ${tools[0]!.hidden}`
  return [
    ...warnings,
    { message, hint: "check include and exclude of the entry, and tools in the agent's file" },
  ]
}

function listPatterns({
  include = [],
  exclude = [],
  permissions = {},
}: McpEntry): { key: string; pattern: string }[] {
  const { allow = [], ask = [], deny = [] } = permissions
  const lists = {
    include,
    exclude,
    'permissions.deny': deny,
    'permissions.ask': ask,
    'permissions.allow': allow,
  }
  return Object.entries(lists).flatMap(([key, patterns]) => patterns.map((pattern) => ({ key, pattern })))
}

/** The maximum number of names in a hint. */
const MAX_NAMES = 8
