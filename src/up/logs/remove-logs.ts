import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSizes } from '../ps/disk-notes.ts'
import { isServiceLog } from './log-files.ts'

/** Removes the logs of a service and what was set aside of them; gives how many bytes that were. Nothing writes them. */
export async function removeLogs(logs: string, service: string): Promise<number> {
  const files = (await fileSizes(logs)).filter(({ name }) => isServiceLog(service, name))
  for (const { name } of files) await rm(join(logs, name), { force: true })
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
