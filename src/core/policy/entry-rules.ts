import type { McpEntry } from '../config/mcp-entry.ts'
import type { Rule } from './types.ts'

/** The rules of an MCP entry's `permissions`, whose globs are over the names its server gives; only `*` is special. */
export function entryRules(
  { name, permissions }: Pick<McpEntry, 'name' | 'permissions'>,
  source: string,
): Rule[] {
  const effects = ['deny', 'ask', 'allow'] as const
  return effects.flatMap((effect) =>
    (permissions?.[effect] ?? []).map((glob) => {
      return { effect, pattern: `mcp__${name}__${glob.replace(/[\\()]/g, '\\$&')}`, source }
    }),
  )
}
