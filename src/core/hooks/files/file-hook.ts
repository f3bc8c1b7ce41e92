import type { Hook } from '../../runtime/hook.ts'
import { FD_LINKS } from '../folder.ts'
import type { GuardedPaths } from '../protected-paths.ts'
import type { FileTool } from './arguments.ts'
import type { FileToolContext } from './file-tools.ts'
import { FILE_GROUP, FILE_TOOLS } from './specs.ts'
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

const NOTHING_GUARDED: GuardedPaths = { sealed: [], asked: [] }

function isFileTool(name: string): name is FileTool {
  return FILE_TOOLS.some((tool) => tool.name === name)
}
