import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogSource } from './entry.ts'

/** A file that a service writes, whether it is there or not. */
export interface LogFilePath {
  service: string
  source: LogSource
  path: string
}

/** The two files of a service: its log, and what it printed. */
export function listLogFiles(service: string, logs: string): LogFilePath[] {
  return [
    { service, source: 'log', path: join(logs, `${service}.log`) },
    { service, source: 'crash', path: join(logs, `${service}.crash.log`) },
  ]
}

/** What our own supervisor says of all services. */
export function supervisorLog(logs: string): LogFilePath {
  return { service: SUPERVISOR, source: 'supervisor', path: join(logs, `${SUPERVISOR}.log`) }
}

/** The services that have written something, by name. */
export async function loggedServices(logs: string): Promise<string[]> {
  const files = await readdir(logs).catch(() => []) // nothing has been written yet
  const names = files.flatMap((file) => LOG_NAME.exec(file)?.[1] ?? [])
  return [...new Set(names)].filter((name) => name !== SUPERVISOR).toSorted()
}

/** Whether a file of the folder of logs is one of a service, or what was set aside of one. */
export function isServiceLog(service: string, file: string): boolean {
  return LOG_NAME.exec(file)?.[1] === service
}

/**
 * A file and what was set aside when it became too large (`<path>.1` is the youngest), oldest first, those that are there
 * and were written since.
 */
export async function rotatedFiles(
  path: string,
  since: number,
): Promise<{ path: string; writtenAt: number }[]> {
  const found: { path: string; writtenAt: number }[] = []
  for (let n = 0; ; n += 1) {
    const name = n === 0 ? path : `${path}.${n}`
    const stats = await stat(name).catch(() => undefined) // none so old
    if (!stats && n > 0) break
    if (stats && stats.mtimeMs >= since) found.unshift({ path: name, writtenAt: stats.mtimeMs })
    if (stats && stats.mtimeMs < since) break
  }
  return found
}

const SUPERVISOR = 'supervisor'
const LOG_NAME = /^([a-z0-9-]+)(?:\.crash)?\.log(?:\.\d+)?$/
