import type { ToolOutput } from '../../runtime/hook.ts'
import { showGroup, toResultOutput } from './show.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** Lists an agent's groups, without schemas; at most 100. */
export function listGroups({ groups, tools }: ToolCatalog): ToolOutput {
  const isCut = groups.length > MAX_GROUPS
  return toResultOutput({
    groups: groups.slice(0, MAX_GROUPS).map(showGroup),
    total_groups: groups.length,
    total_tools: tools.length,
    ...(isCut && { note: 'These are not all groups: tools_search finds tools of the others' }),
  })
}

const MAX_GROUPS = 100
