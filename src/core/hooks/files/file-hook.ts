import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolGroup } from '../../runtime/hook.ts'
import { FD_LINKS } from '../folder.ts'
import type { GuardedPaths } from '../protected-paths.ts'
import type { FileTool } from './arguments.ts'
import type { FileToolContext } from './file-tools.ts'
import { UNDO_QUOTA, type UndoQuota } from './undo/quota.ts'

/** The dependencies of the file tools. */
export interface FileHookOptions extends Pick<FileToolContext, 'closed' | 'homeDir' | 'lock'> {
  /** The files of the home that a rule alone does not open; none by default. */
  guarded?: GuardedPaths
  /** The folder whose links lead to the open files of this process; by default that of Linux. */
  fdLinks?: string
  /** The limits of backups for undo. */
  limits?: UndoQuota
}

/** Provides the tools `read`, `write` and `edit`; their implementation is loaded on the first call. */
export function fileHook(options: FileHookOptions): Hook {
  const setting = { fdLinks: FD_LINKS, limits: UNDO_QUOTA, guarded: NOTHING_GUARDED, ...options }
  const tools = () => import('./file-tools.ts')
  return {
    schema: () => FILE_TOOLS,
    groups: () => [FILE_GROUP],
    describe(name, request) {
      return isFileTool(name) ? tools().then(({ describe }) => describe(name, request, setting)) : undefined
    },
    dispatch(name, call, signal) {
      return isFileTool(name)
        ? tools().then(({ dispatch }) => dispatch(name, call, setting, signal))
        : undefined
    },
  }
}

const NOTHING_GUARDED: GuardedPaths = { sealed: [], alwaysAsk: [] }

function isFileTool(name: string): name is FileTool {
  return FILE_TOOLS.some((tool) => tool.name === name)
}

const STRING = { type: 'string' }

/** `read`, `write` and `edit` as models see them. Every byte is paid for on every turn: 900 for all three. */
const FILE_TOOLS: readonly ToolSpec[] = [
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
const FILE_GROUP: ToolGroup = {
  id: 'files',
  title: 'Files',
  description: 'Read, write and change files',
  tools: FILE_TOOLS.map(({ name }) => name),
}
