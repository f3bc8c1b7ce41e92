import type { McpEntry } from './mcp-entry.ts'
import type { PermissionRule } from './permissions.ts'
import type { KeyPath } from './validation-issue.ts'

/**
 * The rules of an MCP entry's `permissions`, whose globs are over the names its server gives; only `*` is special.
 * `place` gives where a key of the entry is written.
 */
export function entryRules(
  { name, permissions }: Pick<McpEntry, 'name' | 'permissions'>,
  place: (path: KeyPath) => string,
): PermissionRule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (permissions?.[effect] ?? []).map((glob, i) => {
      const pattern = `mcp__${name}__${glob.replace(/[\\()]/g, '\\$&')}`
      return { effect, pattern, source: place(['permissions', effect, i]) }
    }),
  )
}
