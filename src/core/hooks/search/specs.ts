import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup } from '../../runtime/hook.ts'

const STRING = { type: 'string' }

/** `glob` and `grep` as models see them. Every byte is paid for on every turn. */
export const SEARCH_TOOLS: readonly ToolSpec[] = [
  {
    name: 'glob',
    description: 'Find files by name or path, newest first',
    parameters: { type: 'object', properties: { pattern: STRING, path: STRING }, required: ['pattern'] },
    readOnly: true,
  },
  {
    name: 'grep',
    description: 'Search files for a regex',
    parameters: {
      type: 'object',
      properties: {
        pattern: STRING,
        path: STRING,
        glob: STRING,
        ignoreCase: { type: 'boolean' },
        context: { type: 'integer', description: 'lines around a match' },
        mode: { enum: ['content', 'files', 'count'] },
      },
      required: ['pattern'],
    },
    readOnly: true,
  },
]

/** The group of `glob` and `grep`. */
export const SEARCH_GROUP: ToolGroup = {
  id: 'search',
  title: 'Search',
  description: 'Find files, and text in files',
  tools: SEARCH_TOOLS.map(({ name }) => name),
}
