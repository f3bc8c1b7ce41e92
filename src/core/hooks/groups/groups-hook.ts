import { estimateToolTokens } from '../../base/estimate-tokens.ts'
import { exceedsShownTools } from '../../base/tool-limits.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolsTurn } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import type { GroupContext } from './run-group-tool.ts'
import { GROUP_TOOLS, isGroupTool } from './specs.ts'
import { isSelectable, ToolCatalog } from './tool-catalog.ts'

/**
 * Wraps a hook for agents with many MCP tools, or large ones (exceedsShownTools()): such an agent is offered
 * the built-in tools, then tools that find and select MCP tools, then the MCP tools that its conversation has
 * selected (ADR 0115, 0215).
 *
 * The offer changes only when the selection does, and keeps the order of the inner hook. A tool that is used
 * while all are shown counts as selected, should there be too many later.
 */
export function groupsHook(inner: Hook): Hook {
  /**
   * The catalog and selection of each turn that is not shown all its tools, by the signal that ends the
   * turn.
   */
  const contexts = new WeakMap<AbortSignal, GroupContext>()
  /** The selection of each turn that is shown all its tools, with the names that can be selected. */
  const shown = new WeakMap<AbortSignal, { selection: SelectedTools; names: ReadonlySet<string> }>()
  const measure = cachedTokens()
  return {
    ...inner,
    async schema(agent, turn) {
      const offered = (await inner.schema?.(agent, turn)) ?? []
      const tools = turn.keeps ? offered.filter(turn.keeps) : offered
      const many = tools.filter(isSelectable)
      if (turn.turnOver) contexts.delete(turn.turnOver)
      const { selection, turnOver } = turn
      if (!exceedsShownTools(many.map(measure))) {
        if (turnOver && selection)
          shown.set(turnOver, { selection, names: new Set(many.map(({ name }) => name)) })
        return tools
      }
      const others = tools.filter((tool) => !isSelectable(tool))
      const catalog = new ToolCatalog([...others, ...many], inner.groups?.(agent) ?? [])
      selectRequiredTool(catalog, turn)
      if (turn.turnOver && selection) contexts.set(turn.turnOver, { catalog, selection })
      const selected = new Set(selection?.names)
      return [...others, ...GROUP_TOOLS, ...many.filter(({ name }) => selected.has(name))]
    },
    whyNot(name, turnOver) {
      const found = contexts.get(turnOver)
      return found ? whyNot(name, found) : inner.whyNot?.(name, turnOver)
    },
    dispatch(name, call, signal) {
      const found = contexts.get(call.turnOver)
      if (found && isGroupTool(name))
        return import('./run-group-tool.ts').then(({ runGroupTool: run }) => {
          const result = run(name, call, found)
          for (const server of result.introduces ?? []) call.introduce(server)
          return result
        })
      if (found?.selection.names.includes(name)) found.selection.use([name])
      const all = found ? undefined : shown.get(call.turnOver)
      if (all?.names.has(name)) all.selection.use([name])
      return inner.dispatch?.(name, call, signal)
    },
  }
}

/** Returns a function that estimates the tokens of a tool's definition, once for each tool. */
function cachedTokens(): (tool: ToolSpec) => number {
  const known = new WeakMap<ToolSpec, number>()
  return (tool) => {
    const tokens =
      known.get(tool) ?? estimateToolTokens(tool.alias ?? tool.name, tool.description, tool.parameters)
    known.set(tool, tokens)
    return tokens
  }
}

/** Selects the tool that the model must call, so that it is offered. */
function selectRequiredTool(catalog: ToolCatalog, { toolChoice = '', selection }: ToolsTurn): void {
  const tool = catalog.find(toolChoice)
  if (tool && isSelectable(tool) && !selection?.names.includes(tool.name)) selection?.use([tool.name])
}

/**
 * Explains why a tool that was not offered cannot be called: it is unknown, was selected in this very step,
 * or is not selected.
 */
function whyNot(name: string, { catalog, selection }: GroupContext): string {
  const tool = catalog.find(name)
  if (!tool) return `Cannot call ${name}: no tool has that name; ${advice(catalog.nearest(name))}`
  if (selection.names.includes(tool.name))
    return `Cannot call ${tool.name} yet: it was selected just now; call it in your next step`
  const call = JSON.stringify({ tools: [tool.name] })
  return `Cannot call ${tool.name}: it is not selected. Select it first with tools_select ${call}, then call it`
}

function advice(closest: ToolSpec | undefined): string {
  return closest ? `did you mean "${closest.name}"?` : 'tools_search finds tools by name and description'
}
