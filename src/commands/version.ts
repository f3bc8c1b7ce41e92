import type { CommandHandler } from '../cli/command.ts'
import { VERSION } from '../core/base/version.ts'

/** Runs `crabtalk version` and `crabup version`. */
export const versionCommand: CommandHandler = async ({ program, host }) => {
  host.stdout.write(`${program} ${VERSION}\n`)
  return 0
}
