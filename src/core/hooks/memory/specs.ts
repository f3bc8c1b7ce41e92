import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

const STRING = { type: 'string' }

/** The memory tools as models see them. Every byte is paid on every turn; what else they take is in arguments.ts. */
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

export type MemoryTool = (typeof MEMORY_TOOLS)[number]['name']

/** What they have in common. */
export const MEMORY_GROUP: ToolGroup = {
  id: 'memory',
  title: 'Memory',
  description: 'What outlasts a conversation',
  tools: MEMORY_TOOLS.map(({ name }) => name),
}

const [REMEMBER, , RECALL] = MEMORY_TOOLS

/** When to use them, for a turn that may. */
export function memoryPrompt(keeps: (tool: ToolSpec) => boolean): string | undefined {
  const sentences = [
    keeps(RECALL) && 'recall what may be known',
    keeps(REMEMBER) && 'remember wishes, decisions, lasting facts, no secrets',
  ].filter((sentence) => sentence !== false)
  return sentences.length === 0 ? undefined : `Memory outlasts conversations: ${sentences.join('; ')}.`
}
