import type { McpEntry } from './mcp-entry.ts'
import type { PermissionRule } from './permissions.ts'
import type { KeyPath } from './validation-issue.ts'

/**
 * Returns the rules of an MCP entry's `permissions`. Their globs match the tool names of the server; only `*`
 * is special. `locate` returns the location of a key of the entry.
 */
export function entryRules(
  { name, permissions }: Pick<McpEntry, 'name' | 'permissions'>,
  locate: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (permissions?.[effect] ?? []).map((glob, i) => {
      const pattern = `mcp__${name}__${glob.replace(/[\\()]/g, '\\$&')}`
      return { effect, pattern, source: locate(['permissions', effect, i]) }
    }),
  )
}
