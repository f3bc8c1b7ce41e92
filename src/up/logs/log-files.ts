import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogSource } from './entry.ts'

/** A log file of a service, whether or not it exists. */
export interface LogFilePath {
  service: string
  source: LogSource
  path: string
}

/** Lists the two files of a service: its log and its printed output. */
export function listLogFiles(service: string, logs: string): LogFilePath[] {
  return [
    { service, source: 'log', path: join(logs, `${service}.log`) },
    { service, source: 'crash', path: join(logs, `${service}.crash.log`) },
  ]
}

/** Returns the log in which crabup's own supervisor writes about all services. */
export function supervisorLog(logs: string): LogFilePath {
  return { service: SUPERVISOR, source: 'supervisor', path: join(logs, `${SUPERVISOR}.log`) }
}

/** Lists the services that have log files, sorted by name. */
export async function loggedServices(logs: string): Promise<string[]> {
  const files = await readdir(logs).catch(() => []) // nothing has been written yet
  const names = files.flatMap((file) => LOG_NAME.exec(file)?.[1] ?? [])
  return [...new Set(names)].filter((name) => name !== SUPERVISOR).toSorted()
}

/**
 * Lists a file and its rotated predecessors (`<path>.1` is the newest), oldest first: those that exist and
 * were written at or after `since`.
 */
export async function rotatedFiles(
  path: string,
  since: number,
): Promise<{ path: string; writtenAt: number }[]> {
  const found: { path: string; writtenAt: number }[] = []
  for (let n = 0; ; n += 1) {
    const name = n === 0 ? path : `${path}.${n}`
    const stats = await stat(name).catch(() => undefined) // no older file
    if (!stats && n > 0) break
    if (stats && stats.mtimeMs >= since) found.unshift({ path: name, writtenAt: stats.mtimeMs })
    if (stats && stats.mtimeMs < since) break
  }
  return found
}

/**
 * Removes the logs of a service, including rotated files, and returns how many bytes they held. The service
 * must not be running.
 */
export async function removeLogs(logs: string, service: string): Promise<number> {
  const files = (await fileSizes(logs)).filter(({ name }) => isServiceLog(service, name))
  for (const { name } of files) await rm(join(logs, name), { force: true })
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Lists the files of a folder with their sizes in bytes; empty when it does not exist. */
export async function fileSizes(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => []) // nothing was ever written
  return await Promise.all(names.map(async (name) => ({ name, bytes: await readSize(join(folder, name)) })))
}

/** Whether a file of the log folder belongs to a service, including its rotated files. */
function isServiceLog(service: string, file: string): boolean {
  return LOG_NAME.exec(file)?.[1] === service
}

async function readSize(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0, // rotated meanwhile
  )
}

const SUPERVISOR = 'supervisor'
const LOG_NAME = /^([a-z0-9-]+)(?:\.crash)?\.log(?:\.\d+)?$/
