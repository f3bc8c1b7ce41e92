import { MAX_SHOWN_MCP_TOOLS } from '../../base/tool-limits.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolsTurn } from '../../runtime/hook.ts'
import type { GroupContext } from './run-group-tool.ts'
import { GROUP_TOOLS, isGroupTool } from './specs.ts'
import { isSelectable, ToolCatalog } from './tool-catalog.ts'

/**
 * A hook with all of another, for agents with many MCP tools: one that has more than MAX_SHOWN_MCP_TOOLS is offered tools
 * that find and select them instead, behind the built-in ones, and after those what its conversation has selected.
 *
 * What is offered changes only with what is selected, and stays in the order of the other hook.
 */
export function groupsHook(inner: Hook): Hook {
  /** Of the turns that are not shown all their tools, by what is aborted when they are over. */
  const surveyed = new WeakMap<AbortSignal, GroupContext>()
  return {
    ...inner,
    async schema(agent, turn) {
      const offered = (await inner.schema?.(agent, turn)) ?? []
      const tools = turn.keeps ? offered.filter(turn.keeps) : offered
      const many = tools.filter(isSelectable)
      if (turn.over) surveyed.delete(turn.over)
      if (many.length <= MAX_SHOWN_MCP_TOOLS) return tools
      const others = tools.filter((tool) => !isSelectable(tool))
      const catalogue = new ToolCatalog([...others, ...many], inner.groups?.(agent) ?? [])
      const { selection } = turn
      selectRequiredTool(catalogue, turn)
      if (turn.over && selection) surveyed.set(turn.over, { catalogue, selection })
      const selected = new Set(selection?.names)
      return [...others, ...GROUP_TOOLS, ...many.filter(({ name }) => selected.has(name))]
    },
    whyNot(name, turnOver) {
      const found = surveyed.get(turnOver)
      return found ? whyNot(name, found) : inner.whyNot?.(name, turnOver)
    },
    dispatch(name, call, signal) {
      const found = surveyed.get(call.turnOver)
      if (found && isGroupTool(name))
        return import('./run-group-tool.ts').then(({ runGroupTool: guide }) => guide(name, call, found))
      if (found?.selection.names.includes(name)) found.selection.use([name])
      return inner.dispatch?.(name, call, signal)
    },
  }
}

/** A tool that the model has to call must be there for it. */
function selectRequiredTool(catalogue: ToolCatalog, { wanted = '', selection }: ToolsTurn): void {
  const tool = catalogue.find(wanted)
  if (tool && isSelectable(tool) && !selection?.names.includes(tool.name)) selection?.use([tool.name])
}

/** A call of a tool that was not shown never reaches it. */
function whyNot(name: string, { catalogue, selection }: GroupContext): string {
  const tool = catalogue.find(name)
  if (!tool) return `Cannot call ${name}: there is no such tool; ${advice(catalogue.nearest(name))}`
  if (selection.names.includes(tool.name))
    return `Cannot call ${tool.name} yet: it was selected just now; call it in your next step`
  const call = JSON.stringify({ tools: [tool.name] })
  return `Cannot call ${tool.name}: it is not selected. Select it first with tools_select ${call}, then call it`
}

function advice(meant: ToolSpec | undefined): string {
  return meant ? `did you mean "${meant.name}"?` : 'tools_search finds tools by what they are called and do'
}
