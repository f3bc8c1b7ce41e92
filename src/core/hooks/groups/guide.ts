import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import type { Catalogue } from './catalogue.ts'
import { listGroups } from './list-groups.ts'
import { searchTools } from './search-tools.ts'
import { selectTools } from './select-tools.ts'
import type { GroupTool } from './specs.ts'

/** What a turn may have, and what its conversation has selected of it. */
export interface Surveyed {
  catalogue: Catalogue
  selection: SelectedTools
}

/** Runs one of the tools that lead to the others. Throws `invalid` for what there is not. */
export function guide(name: GroupTool, call: ToolDispatch, surveyed: Surveyed): ToolOutput {
  switch (name) {
    case 'tools_groups':
      return listGroups(surveyed.catalogue)
    case 'tools_select':
      return selectTools(call, surveyed)
    case 'tools_search':
      return searchTools(call.args, surveyed)
  }
}
