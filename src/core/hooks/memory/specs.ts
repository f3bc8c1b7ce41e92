import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

const STRING = { type: 'string' }

/**
 * The memory tools as models see them. Every byte is paid for on every turn; arguments.ts accepts more than
 * the schemas say.
 */
export const MEMORY_TOOLS = [
  {
    name: 'remember',
    description: 'Keep or replace a note',
    parameters: {
      type: 'object',
      properties: { name: STRING, content: STRING, aliases: { type: 'array', items: STRING } },
      required: ['name', 'content'],
    },
  },
  {
    name: 'forget',
    description: 'Delete a note',
    parameters: { type: 'object', properties: { name: STRING } },
  },
  {
    name: 'recall',
    description: 'Search memory',
    parameters: { type: 'object', properties: { query: STRING } },
    readOnly: true,
  },
] as const satisfies readonly ToolSpec[]

/** The name of a memory tool. */
export type MemoryTool = (typeof MEMORY_TOOLS)[number]['name']

/** The group of the memory tools. */
export const MEMORY_GROUP: ToolGroup = {
  id: 'memory',
  title: 'Memory',
  description: 'What outlasts a conversation',
  tools: MEMORY_TOOLS.map(({ name }) => name),
}

const [REMEMBER, , RECALL] = MEMORY_TOOLS

/** Returns the instructions about when to use the memory tools, for those that the turn may use. */
export function memoryPrompt(keeps: (tool: ToolSpec) => boolean): string | undefined {
  const sentences = [
    keeps(RECALL) && 'recall what may be known',
    keeps(REMEMBER) && 'remember wishes, decisions, lasting facts, no secrets',
  ].filter((sentence) => sentence !== false)
  return sentences.length === 0 ? undefined : `Memory outlasts conversations: ${sentences.join('; ')}.`
}
