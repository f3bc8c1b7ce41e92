import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, type Finding, ok, warning } from '../../doctor/check.ts'
import { bytesText } from '../packages/facts-text.ts'

/** Whether a file grows without end: programs cut their own logs, and nobody what they print while they run. */
export const checkLogs: Check = async ({ paths }) => {
  const names = await readdir(paths.logs).catch(() => []) // nothing was ever written
  const sizes = await Promise.all(
    names.map(async (name) => ({ name, bytes: await sizeOf(join(paths.logs, name)) })),
  )
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const large = sizes.filter(({ bytes }) => bytes > LARGE)
  return [
    ok(`logs take ${bytesText(total)}`),
    ...large.map(({ name, bytes }) => ofLarge(join(paths.logs, name), name, bytes)),
  ]
}

function ofLarge(path: string, name: string, bytes: number): Finding {
  const [, service] = /^([a-z0-9-]+)\.crash\.log$/.exec(name) ?? []
  const hint =
    service === undefined
      ? 'remove it when nobody writes it'
      : `crabup ${service} stop, then crabup ${service} start, keeps the last of it`
  return warning(`${path} has ${bytesText(bytes)}`, hint)
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** More than all that the daemon keeps of its own. */
const LARGE = 60_000_000
