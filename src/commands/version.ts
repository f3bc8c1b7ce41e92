import { VERSION } from '../core/base/version.ts'
import type { Run } from './command.ts'

export const version: Run = async ({ program, host }) => {
  host.stdout.write(`${program} ${VERSION}\n`)
  return 0
}
