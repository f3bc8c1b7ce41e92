import type { Hook } from '../../runtime/hook.ts'
import { FD_LINKS } from '../folder.ts'
import type { GuardedPaths } from '../protected-paths.ts'
import type { FileTool } from './arguments.ts'
import type { FileToolContext } from './file-tools.ts'
import { FILE_GROUP, FILE_TOOLS } from './specs.ts'
import { UNDO_QUOTA, type UndoQuota } from './undo/quota.ts'

/** What the file tools use. */
export interface FileHookOptions extends Pick<FileToolContext, 'closed' | 'homeDir' | 'lock'> {
  /** Files of the home that need more than a rule; by default none. */
  guarded?: GuardedPaths
  /** Folder whose links lead to the open files of this process; by default that of Linux. */
  fdLinks?: string
  /** How much is kept for undo. */
  limits?: UndoQuota
}

/** The tools `read`, `write` and `edit`; what they do is loaded when one is called. */
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

const NOTHING_GUARDED: GuardedPaths = { sealed: [], asked: [] }

function isFileTool(name: string): name is FileTool {
  return FILE_TOOLS.some((tool) => tool.name === name)
}
