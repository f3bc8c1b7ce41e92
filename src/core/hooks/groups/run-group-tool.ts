import type { ToolDispatch, ToolGroup, ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { searchTools, splitWords } from './search-tools.ts'
import { selectTools } from './select-tools.ts'
import { showGroup, toResultOutput } from './show.ts'
import type { GroupTool } from './specs.ts'
import { isSelectable, type ToolCatalog } from './tool-catalog.ts'

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
      return listGroups(call.args, context)
    case 'tools_select':
      return selectTools(call, context)
    case 'tools_search':
      return searchTools(call.args, context)
  }
}

/**
 * Lists an agent's groups, without schemas; at most 100. With a query, only those that have its words. The
 * instructions of servers are whole when there is room for all of them.
 */
function listGroups(args: Record<string, unknown>, { catalog, selection }: GroupContext): ToolOutput {
  const { groups, tools } = catalog
  const query = typeof args['query'] === 'string' ? args['query'] : ''
  const found = query.trim() === '' ? groups : findGroups(query, catalog)
  const listed = found.slice(0, MAX_GROUPS)
  const length = listed.reduce((sum, { instructions = '' }) => sum + instructions.length, 0)
  const maxInstructions = length > MAX_INSTRUCTIONS ? MAX_SHORT_INSTRUCTIONS : length
  const deferred = tools.filter((tool) => isSelectable(tool) && !selection.names.includes(tool.name))
  const result = {
    groups: listed.map((group) => showGroup(group, maxInstructions)),
    total_groups: groups.length,
    total_tools: tools.length,
    deferred_tools: deferred.length,
    ...toNote(found, groups),
  }
  return toResultOutput(result, maxInstructions < length ? [] : listed)
}

function toNote(found: readonly ToolGroup[], groups: readonly ToolGroup[]): { note?: string } {
  if (found.length > MAX_GROUPS)
    return { note: 'These are not all groups: tools_search finds tools of the others' }
  return found.length === 0 && groups.length > 0
    ? { note: 'No group has these words: without a query all groups are listed' }
    : {}
}

/** Returns the groups that have all words of a query, in their texts or those of their tools, else any word. */
function findGroups(query: string, catalog: ToolCatalog): ToolGroup[] {
  const words = splitWords(query).slice(0, MAX_WORDS)
  const texts = catalog.groups.map((group) => {
    const tools = group.tools.map((name) => `${name} ${catalog.find(name)?.description ?? ''}`)
    return [group.id, group.title, group.description, ...tools].join(' ').toLowerCase()
  })
  const having = (test: 'every' | 'some') => {
    return catalog.groups.filter((_, i) => words[test]((word) => texts[i]!.includes(word)))
  }
  const all = having('every')
  return all.length > 0 ? all : having('some')
}

const MAX_GROUPS = 100
const MAX_WORDS = 32
/** The characters of instructions in a list of groups; when there are more, each is cut. */
const MAX_INSTRUCTIONS = 8_000
const MAX_SHORT_INSTRUCTIONS = 300
