import type { ToolSpec } from '../../src/core/provider/types.ts'
import type { Hook, ToolGroup } from '../../src/core/runtime/hook.ts'

/** Builds a tool of an MCP server, as an agent with that server gets it. */
export function remoteSpec(server: string, tool: string, description = `Does ${tool}`): ToolSpec {
  return {
    name: `mcp__${server}__${tool}`,
    description,
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    alias: tool,
    server,
  }
}

/** Builds `count` tools of a server: `tool_00`, `tool_01`, … */
export function remoteSpecs(server: string, count: number): ToolSpec[] {
  return Array.from({ length: count }, (_, n) => remoteSpec(server, `tool_${String(n).padStart(2, '0')}`))
}

/** Builds the group of a server's tools. */
export function toolGroup(
  server: string,
  specs: readonly ToolSpec[],
  more: Partial<ToolGroup> = {},
): ToolGroup {
  const tools = specs.filter((spec) => spec.server === server).map(({ name }) => name)
  return { id: `mcp:${server}`, title: server, description: `About ${server}`, tools, server, ...more }
}

/** A built-in tool that only reads. */
export const READ: ToolSpec = {
  name: 'read',
  description: 'Read a file',
  parameters: { type: 'object' },
  readOnly: true,
}

/** Builds a hook with these tools and groups; `calls` collects the names of called tools. */
export function toolsHook(
  specs: readonly ToolSpec[],
  groups: readonly ToolGroup[] = [],
  calls: string[] = [],
): Hook {
  return {
    schema: () => specs,
    groups: () => groups,
    dispatch(name) {
      if (!specs.some((spec) => spec.name === name)) return undefined
      calls.push(name)
      return Promise.resolve({ output: `did ${name}`, isError: false })
    },
  }
}
