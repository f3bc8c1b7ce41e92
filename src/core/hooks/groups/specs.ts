import type { ToolSpec } from '../../provider/types.ts'

const STRING = { type: 'string' }

/**
 * The tools that an agent with too many tools gets in place of those of its MCP servers. Every byte is paid
 * for on every turn: 900 for all three. They contain no text from servers, so that they are the same for
 * every agent.
 */
export const GROUP_TOOLS: readonly ToolSpec[] = [
  {
    name: 'tools_groups',
    description: 'List the groups of tools you can select. You have more tools than you are shown',
    parameters: { type: 'object', properties: { query: STRING } },
    readOnly: true,
    isGuide: true,
  },
  {
    name: 'tools_select',
    description: 'Select tools, by group id or by names, to call them from your next step on',
    parameters: {
      type: 'object',
      properties: { group: STRING, tools: { type: 'array', items: STRING } },
    },
    readOnly: true,
    isGuide: true,
  },
  {
    name: 'tools_search',
    description: 'Find tools to select by what they are called and do; * lists all names',
    parameters: {
      type: 'object',
      properties: { query: STRING, limit: { type: 'integer', description: 'default 20, at most 64' } },
      required: ['query'],
    },
    readOnly: true,
    isGuide: true,
  },
]

/** The name of a group tool. */
export type GroupTool = 'tools_groups' | 'tools_select' | 'tools_search'

/** Whether a name is that of a group tool. */
export function isGroupTool(name: string): name is GroupTool {
  return GROUP_TOOLS.some((tool) => tool.name === name)
}
