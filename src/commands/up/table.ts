import type { Command } from '../../cli/command.ts'
import { completionCommands } from '../completions/table.ts'
import { SUPERVISE_COMMANDS } from '../supervise/table.ts'
import { PACKAGE_COMMANDS } from './packages/table.ts'
import { withUpdateRecovery } from './packages/update-recovery.ts'
import { SELF_COMMANDS } from './self/table.ts'
import { SERVICE_COMMANDS } from './service/table.ts'
import { VIEW_COMMANDS } from './view/table.ts'

const ROWS: readonly Command[] = [
  ...withUpdateRecovery([...SERVICE_COMMANDS, ...VIEW_COMMANDS, ...PACKAGE_COMMANDS, ...SELF_COMMANDS]),
  ...SUPERVISE_COMMANDS,
  ...completionCommands('crabup'),
  {
    path: ['version'],
    args: '',
    summary: 'Print the version',
    options: [],
    examples: ['crabup version'],
    load: async () => (await import('../version.ts')).versionCommand,
  },
]

/** The commands of `crabup`. */
export const CRABUP: readonly Command[] = ROWS.map((row) => ({ ...row, isAlone: true }))
