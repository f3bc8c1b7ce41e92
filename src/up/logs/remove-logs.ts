import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSizes } from '../ps/disk-notes.ts'
import { isServiceLog } from './log-files.ts'

/**
 * Removes the logs of a service, including rotated files, and returns how many bytes they held. The service
 * must not be running.
 */
export async function removeLogs(logs: string, service: string): Promise<number> {
  const files = (await fileSizes(logs)).filter(({ name }) => isServiceLog(service, name))
  for (const { name } of files) await rm(join(logs, name), { force: true })
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
