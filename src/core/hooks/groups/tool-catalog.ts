import { nearest } from '../../base/nearest.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

/** All that a turn's agent may have, as it was when the turn was offered its tools last. */
export class ToolCatalog {
  /** Built-in ones, then those of servers, in the order they are offered in. */
  readonly tools: readonly ToolSpec[]
  /** Each with at least one tool, and with such tools only. */
  readonly groups: readonly ToolGroup[]
  /** Also by the shorter name, where that is nobody's own; the first that has it. */
  readonly #byName = new Map<string, ToolSpec>()

  constructor(tools: readonly ToolSpec[], groups: readonly ToolGroup[]) {
    this.tools = tools
    this.groups = visibleGroups(tools, groups)
    for (const tool of tools) this.#byName.set(tool.name, tool)
    for (const tool of tools) {
      const { alias } = tool
      if (alias === undefined || alias.startsWith('mcp__') || this.#byName.has(alias)) continue
      this.#byName.set(alias, tool)
    }
  }

  /** The tool that is meant by its name, or by its shorter one. */
  find(name: string): ToolSpec | undefined {
    return this.#byName.get(name)
  }

  /** The tool whose name is most like that one. */
  nearest(name: string): ToolSpec | undefined {
    const meant = nearest(name, this.#byName.keys())
    return meant === undefined ? undefined : this.#byName.get(meant)
  }

  findGroup(id: string): ToolGroup | undefined {
    return this.groups.find((group) => group.id === id)
  }

  /** The group whose id is most like that one; of a server also by its name alone. */
  nearestGroup(id: string): ToolGroup | undefined {
    const named = this.groups.find((group) => group.id.endsWith(`:${id}`))
    const meant = named?.id ?? nearest(id, [...this.groups.map((group) => group.id)])
    return meant === undefined ? undefined : this.findGroup(meant)
  }

  /** The groups that some of these tools belong to, in the order of the tools. */
  findGroups(tools: readonly ToolSpec[]): ToolGroup[] {
    const found = tools.flatMap(({ name }) => this.groups.filter((group) => group.tools.includes(name)))
    return [...new Set(found)]
  }
}

/** Whether a tool has to be selected before it is shown: those of servers have, and all others are always there. */
export function isSelectable({ server }: ToolSpec): boolean {
  return server !== undefined
}

/**
 * Groups as their agent can use them: tools that it does not have are left out, or has from elsewhere, and groups of
 * nothing else; what comes under one id is one group, with the words of the first; tools are sorted, as servers list theirs
 * in any order.
 */
function visibleGroups(tools: readonly ToolSpec[], groups: readonly ToolGroup[]): ToolGroup[] {
  const places = new Map(tools.map(({ name, server }) => [name, { server }]))
  const isOwn = (name: string, { server }: ToolGroup) => {
    const place = places.get(name)
    return place !== undefined && place.server === server
  }
  const byId = new Map<string, ToolGroup>()
  for (const group of groups) {
    const first = byId.get(group.id)
    const members = [...(first?.tools ?? []), ...group.tools.filter((name) => isOwn(name, group))]
    byId.set(group.id, { ...(first ?? group), tools: [...new Set(members)].toSorted() })
  }
  return [...byId.values()].filter((group) => group.tools.length > 0)
}
