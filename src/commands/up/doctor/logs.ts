import { join } from 'node:path'
import { fileSizes, freeSpaceNotes, LARGE_LOG_BYTES } from '../../../up/ps/disk-notes.ts'
import { type Check, type CheckResult, ok, warning } from '../../doctor/check.ts'
import { bytesText } from '../packages/facts-text.ts'

/** Checks for oversized logs, although the guard bounds printed output and programs bound their own logs. */
export const checkLogs: Check = async ({ paths }) => {
  const sizes = await fileSizes(paths.logs)
  const room = await freeSpaceNotes(paths.home)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const large = sizes.filter(({ bytes }) => bytes > LARGE_LOG_BYTES)
  return [
    ok(`logs take ${bytesText(total)}`),
    ...room.map(({ message, hint }) => warning(message, hint)),
    ...large.map(({ name, bytes }) => toLargeLogResult(join(paths.logs, name), name, bytes)),
  ]
}

function toLargeLogResult(path: string, name: string, bytes: number): CheckResult {
  const [, service] = /^([a-z0-9-]+)\.crash\.log$/.exec(name) ?? []
  const hint =
    service === undefined
      ? 'remove it when nobody writes it'
      : `crabup ${service} stop, then crabup ${service} start, keeps the last of it`
  return warning(`${path} has ${bytesText(bytes)}`, hint)
}
