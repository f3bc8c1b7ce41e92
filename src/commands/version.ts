import { VERSION } from '../core/base/version.ts'
import type { Run } from './command.ts'

export const version: Run = async ({ host }) => {
  host.stdout.write(`crabtalk ${VERSION}\n`)
  return 0
}
