import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

const STRING = { type: 'string' }

/** `read`, `write` and `edit` as models see them. Every byte is paid for on every turn: 900 for all three. */
export const FILE_TOOLS: readonly ToolSpec[] = [
  {
    name: 'read',
    description: 'Read a text file or image; at most 2000 lines',
    parameters: {
      type: 'object',
      properties: {
        path: STRING,
        offset: { type: 'integer', description: 'first line' },
        limit: { type: 'integer' },
      },
      required: ['path'],
    },
    readOnly: true,
  },
  {
    name: 'write',
    description: 'Create a file, or replace one you have read',
    parameters: {
      type: 'object',
      properties: { path: STRING, content: STRING },
      required: ['path', 'content'],
    },
  },
  {
    name: 'edit',
    description:
      'Replace exact texts in a file you have read. Each old must occur once, unless all; edits apply to the file as it was',
    parameters: {
      type: 'object',
      properties: {
        path: STRING,
        edits: {
          type: 'array',
          items: {
            type: 'object',
            properties: { old: STRING, new: STRING, all: { type: 'boolean' } },
            required: ['old', 'new'],
          },
        },
      },
      required: ['path', 'edits'],
    },
  },
]

/** The group of the file tools. */
export const FILE_GROUP: ToolGroup = {
  id: 'files',
  title: 'Files',
  description: 'Read, write and change files',
  tools: FILE_TOOLS.map(({ name }) => name),
}
