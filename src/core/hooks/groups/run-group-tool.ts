import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { searchTools } from './search-tools.ts'
import { selectTools } from './select-tools.ts'
import { showGroup, toResultOutput } from './show.ts'
import type { GroupTool } from './specs.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** The tools that a turn may use, and those that its conversation has selected. */
export interface GroupContext {
  catalog: ToolCatalog
  selection: SelectedTools
}

/**
 * Runs one of the tools that list, select and find tools. Throws `invalid` for unknown groups or tools, and
 * for bad arguments.
 */
export function runGroupTool(name: GroupTool, call: ToolDispatch, context: GroupContext): ToolOutput {
  switch (name) {
    case 'tools_groups':
      return listGroups(context.catalog)
    case 'tools_select':
      return selectTools(call, context)
    case 'tools_search':
      return searchTools(call.args, context)
  }
}

/** Lists an agent's groups, without schemas; at most 100. */
function listGroups({ groups, tools }: ToolCatalog): ToolOutput {
  const isCut = groups.length > MAX_GROUPS
  return toResultOutput({
    groups: groups.slice(0, MAX_GROUPS).map(showGroup),
    total_groups: groups.length,
    total_tools: tools.length,
    ...(isCut && { note: 'These are not all groups: tools_search finds tools of the others' }),
  })
}

const MAX_GROUPS = 100
