import { CrabError } from '../../base/errors.ts'
import type { MemoryTool } from './specs.ts'

/** The parsed arguments of a call. */
export type MemoryCall =
  | { tool: 'remember'; name: string; content: string; aliases: string[] }
  | { tool: 'forget'; name: string }
  | { tool: 'recall'; query: string; limit: number }

/**
 * Parses the arguments of a call; some models send null for optional fields. Throws `invalid`, naming the
 * field.
 */
export function parseMemoryArguments(tool: MemoryTool, args: Readonly<Record<string, unknown>>): MemoryCall {
  switch (tool) {
    case 'remember':
      return {
        tool,
        name: text(tool, 'name', args),
        content: text(tool, 'content', args),
        aliases: parseAliases(args),
      }
    case 'forget':
      return { tool, name: text(tool, 'name', args) }
    case 'recall':
      return { tool, query: text(tool, 'query', args), limit: parseLimit(args) }
  }
}

const USUAL_LIMIT = 5
const MAX_LIMIT = 20

function text(tool: MemoryTool, key: string, args: Readonly<Record<string, unknown>>): string {
  const value = args[key]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw bad(tool, `${key} must be a non-empty string`)
}

/** Parses the aliases; a single one may be a plain string. */
function parseAliases({ aliases }: Readonly<Record<string, unknown>>): string[] {
  const values: unknown[] = Array.isArray(aliases) ? aliases : [aliases ?? []].flat()
  if (values.every((alias) => typeof alias === 'string')) return values.filter((alias) => alias.trim() !== '')
  throw bad('remember', 'aliases must be a list of strings')
}

function parseLimit({ limit }: Readonly<Record<string, unknown>>): number {
  const count = Number(limit ?? USUAL_LIMIT)
  if (Number.isInteger(count) && count > 0) return Math.min(count, MAX_LIMIT)
  throw bad('recall', 'limit must be a number of at least 1')
}

function bad(tool: MemoryTool, why: string): CrabError {
  return new CrabError('invalid', `Cannot run ${tool}: ${why}`)
}
