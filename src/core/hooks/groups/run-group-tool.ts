import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { listGroups } from './list-groups.ts'
import { searchTools } from './search-tools.ts'
import { selectTools } from './select-tools.ts'
import type { GroupTool } from './specs.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** What a turn may have, and what its conversation has selected of it. */
export interface GroupContext {
  catalogue: ToolCatalog
  selection: SelectedTools
}

/** Runs one of the tools that lead to the others. Throws `invalid` for what there is not. */
export function runGroupTool(name: GroupTool, call: ToolDispatch, surveyed: GroupContext): ToolOutput {
  switch (name) {
    case 'tools_groups':
      return listGroups(surveyed.catalogue)
    case 'tools_select':
      return selectTools(call, surveyed)
    case 'tools_search':
      return searchTools(call.args, surveyed)
  }
}
