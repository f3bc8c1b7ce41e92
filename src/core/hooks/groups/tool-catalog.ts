import { nearest } from '../../base/nearest.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

/** All tools that a turn may use, as of the last time it was offered tools. */
export class ToolCatalog {
  /** Built-in tools, then those of servers, in the order they are offered. */
  readonly tools: readonly ToolSpec[]
  /** The groups that have at least one of these tools; they contain no others. */
  readonly groups: readonly ToolGroup[]
  /** Indexed by name, and by alias where no other tool has that name; the first tool with an alias wins. */
  readonly #byName = new Map<string, ToolSpec>()
  /** The same tools by their names in lower case; undefined where several differ only in that. */
  readonly #byLowerName = new Map<string, ToolSpec | undefined>()

  constructor(tools: readonly ToolSpec[], groups: readonly ToolGroup[]) {
    this.tools = tools
    this.groups = visibleGroups(tools, groups)
    for (const tool of tools) this.#byName.set(tool.name, tool)
    for (const tool of tools) {
      const { alias } = tool
      if (alias === undefined || alias.startsWith('mcp__') || this.#byName.has(alias)) continue
      this.#byName.set(alias, tool)
    }
    for (const [name, tool] of this.#byName) {
      const lower = name.toLowerCase()
      const isTaken = this.#byLowerName.has(lower) && this.#byLowerName.get(lower) !== tool
      this.#byLowerName.set(lower, isTaken ? undefined : tool)
    }
  }

  /** Returns the tool with this name or alias. */
  find(name: string): ToolSpec | undefined {
    return this.#byName.get(name)
  }

  /** Like find(), in any case as long as that names one tool. */
  findAnyCase(name: string): ToolSpec | undefined {
    return this.find(name) ?? this.#byLowerName.get(name.toLowerCase())
  }

  /** Returns the tool whose name is most similar. */
  nearest(name: string): ToolSpec | undefined {
    const closest = nearest(name, this.#byName.keys())
    return closest === undefined ? undefined : this.#byName.get(closest)
  }

  /** Returns the group with this id, in any case; a server's group is also found by the server's name. */
  findGroup(id: string): ToolGroup | undefined {
    const exact = this.groups.find((group) => group.id === id)
    const lower = id.toLowerCase()
    const similar = (wanted: string) => this.groups.filter((group) => group.id.toLowerCase() === wanted)
    const [one, ...others] = exact ? [exact] : [...similar(lower), ...similar(`mcp:${lower}`)]
    return others.length === 0 ? one : undefined
  }

  /** Returns the group whose id, or the name of whose server, is most similar. */
  nearestGroup(id: string): ToolGroup | undefined {
    const ids = this.groups.map((group) => group.id)
    const closest = nearest(id, ids) ?? nearest(`mcp:${id}`, ids)
    return closest === undefined ? undefined : this.findGroup(closest)
  }

  /** Returns the groups that any of these tools belong to, in the order of the tools. */
  findGroups(tools: readonly ToolSpec[]): ToolGroup[] {
    const found = tools.flatMap(({ name }) => this.groups.filter((group) => group.tools.includes(name)))
    return [...new Set(found)]
  }
}

/**
 * Whether a tool must be selected before it is shown: tools of servers must be, all others are always shown.
 */
export function isSelectable({ server }: ToolSpec): boolean {
  return server !== undefined
}

/**
 * Reduces groups to the tools that the agent can use: a tool that it does not have, or has from elsewhere, is
 * left out, and so is a group without tools. Groups with the same id are merged, with the texts of the first.
 * Tools are sorted, because servers list theirs in any order.
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
