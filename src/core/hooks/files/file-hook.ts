import type { Hook } from '../../runtime/hook.ts'
import type { GuardedPlaces } from '../closed-places.ts'
import { FD_LINKS } from '../folder.ts'
import type { FileTool } from './arguments.ts'
import type { FileSetting } from './file-tools.ts'
import { KEEP_LIMITS, type KeepLimits } from './kept-room.ts'
import { FILE_GROUP, FILE_TOOLS } from './specs.ts'

/** What the file tools use. */
export interface FileHookOptions extends Pick<FileSetting, 'closed' | 'homeDir' | 'lock'> {
  /** Files of the home that need more than a rule; by default none. */
  guarded?: GuardedPlaces
  /** Folder whose links lead to the open files of this process; by default that of Linux. */
  fdLinks?: string
  /** How much is kept for undo. */
  limits?: KeepLimits
}

/** The tools `read`, `write` and `edit`; what they do is loaded when one is called. */
export function fileHook(options: FileHookOptions): Hook {
  const setting = { fdLinks: FD_LINKS, limits: KEEP_LIMITS, guarded: NOTHING_GUARDED, ...options }
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

const NOTHING_GUARDED: GuardedPlaces = { sealed: [], asked: [] }

function isFileTool(name: string): name is FileTool {
  return FILE_TOOLS.some((tool) => tool.name === name)
}
