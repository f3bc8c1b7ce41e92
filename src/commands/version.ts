import { VERSION } from '../core/base/version.ts'
import type { CommandHandler } from './command.ts'

/** Runs `crabtalk version` and `crabup version`. */
export const versionCommand: CommandHandler = async ({ program, host }) => {
  host.stdout.write(`${program} ${VERSION}\n`)
  return 0
}
