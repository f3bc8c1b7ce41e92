import { CrabError } from '../../base/errors.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { rankTools } from './rank-tools.ts'
import { attachGroup, showTool, toResultOutput } from './show.ts'
import { isSelectable, type ToolCatalog } from './tool-catalog.ts'

/**
 * Finds tools by words, best first, with the groups they belong to; `*` lists all names. Throws `invalid` for
 * an empty query.
 */
export function searchTools(
  args: Record<string, unknown>,
  { catalogue, selection }: { catalogue: ToolCatalog; selection: Pick<SelectedTools, 'names'> },
): ToolOutput {
  const { tools } = catalogue
  const query = typeof args['query'] === 'string' ? args['query'].trim() : ''
  if (query === '') throw new CrabError('invalid', 'Cannot search: query must be words, or * for all names')
  if (query === '*') return toResultOutput(listNames(tools))
  const found = rankTools(tools, query)
  const matches = found.slice(0, parseLimit(args))
  const groups = catalogue.findGroups(matches)
  const isThere = (tool: ToolSpec) => !isSelectable(tool) || selection.names.includes(tool.name)
  return toResultOutput({
    tools: matches.map((tool) => ({ ...showTool(tool), ...(isThere(tool) && { selected: true }) })),
    total_matches: found.length,
    total_tools: tools.length,
    groups: groups.slice(0, MAX_GROUPS).map(attachGroup),
    ...(found.length === 0 && { note: 'No tool has any of these words; tools_groups lists all groups' }),
  })
}

function listNames(tools: readonly ToolSpec[]): object {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name)
  return { names, total_tools: tools.length }
}

/** Parses the limit. Some models send a number as a string. */
function parseLimit({ limit }: Record<string, unknown>): number {
  const count = Math.trunc(Number(limit ?? DEFAULT_RESULTS))
  return count >= 1 ? Math.min(count, MAX_RESULTS) : DEFAULT_RESULTS
}

const DEFAULT_RESULTS = 20
const MAX_RESULTS = 64
const MAX_NAMES = 1_000
/** The most groups, which come with their instructions, in a result. */
const MAX_GROUPS = 4
