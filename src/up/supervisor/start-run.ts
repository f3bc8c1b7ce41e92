import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { toCrabError } from '../../core/base/errors.ts'
import { SERVICE_TAG } from '../../core/process/service-process.ts'
import { type DetachedProcess, startDetached } from '../../core/process/start-detached.ts'
import type { ServiceSpec } from '../types.ts'
import { readEnvFileSync } from './environment.ts'

/**
 * Starts a service in a session of its own. Its environment is `env`, overridden by the spec's, overridden by
 * the current content of its environment file, as in systemd. Throws `failed`; the reason is also appended to
 * its output.
 */
export async function startRun(
  { argv, cwd, env: own, envFile, output }: ServiceSpec,
  { serviceTag, env }: { serviceTag: string; env: Readonly<Record<string, string>> },
): Promise<DetachedProcess> {
  const fd = openOutput(output)
  try {
    return await startDetached({
      argv,
      cwd,
      env: { ...env, ...own, ...readEnvFileSync(envFile), [SERVICE_TAG]: serviceTag },
      ...(fd !== undefined && { output: fd }),
    })
  } catch (reason) {
    if (fd !== undefined) appendLine(fd, toCrabError(reason).message)
    throw reason
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/**
 * Opens the file for a service's standard output and error, for appending, with mode 0600. Returns undefined
 * when that fails (a full disk), because the service should run anyway. Does not recreate a home that was
 * removed.
 */
export function openOutput(path: string): number | undefined {
  try {
    mkdirSync(dirname(path), { mode: 0o700 })
  } catch {
    // it exists, or opening the file fails next
  }
  try {
    truncateOutput(path)
    return openSync(path, 'a', 0o600)
  } catch {
    return undefined
  }
}

/** Keeps the last half of a file that has grown beyond `maxBytes`. No other process may be writing it. */
export function truncateOutput(path: string, maxBytes = 1024 * 1024): void {
  let fd: number
  try {
    fd = openSync(path, 'r+')
  } catch {
    return // the file does not exist yet
  }
  try {
    const { size } = fstatSync(fd)
    if (size <= maxBytes) return
    const tail = Buffer.alloc(Math.floor(maxBytes / 2))
    const bytes = readSync(fd, tail, 0, tail.length, size - tail.length)
    const start = tail.indexOf('\n') + 1
    writeSync(fd, tail, start, bytes - start, 0)
    ftruncateSync(fd, bytes - start)
  } finally {
    closeSync(fd)
  }
}

/** Appends a line from crabup, to explain in the output why the service does not run. */
function appendLine(fd: number, line: string): void {
  try {
    writeSync(fd, `crabup: ${line}\n`)
  } catch {
    // the disk is full; the supervisor's log may still have the message
  }
}
