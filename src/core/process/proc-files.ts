import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getErrorCode } from '../base/system-error.ts'
import { OWNER_TAG } from './owner-tag.ts'

/** A process as in Linux's `/proc/<pid>/stat` (proc(5)). */
export interface ProcessEntry {
  pid: number
  session: number
  /** The start time in clock ticks since boot. */
  startTime: number
  /** False for a zombie, which has exited and waits for its parent. */
  isRunning: boolean
}

/** Reads all processes, except those that exit meanwhile. */
export async function readProcesses(proc: string): Promise<ProcessEntry[]> {
  return await collectEach(await readPids(proc), (pid) => readProcess(proc, pid))
}

/** Lists the ids of all processes. */
export async function readPids(proc: string): Promise<number[]> {
  return (await readdir(proc)).filter((name) => /^\d+$/.test(name)).map(Number)
}

/** Reads one process; undefined when no process has that id. */
export async function readProcess(proc: string, pid: number): Promise<ProcessEntry | undefined> {
  const text = await tryToRead(join(proc, String(pid), 'stat'))
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // a name may contain anything, even `)`
  const [state = '', , , session, startTime] = [0, 1, 2, 3, 19].map((at) => fields[at])
  if (startTime === undefined) return undefined
  return {
    pid,
    session: Number(session),
    startTime: Number(startTime),
    isRunning: !ENDED.has(state),
  }
}

/**
 * Returns the owner tag in a process's initial environment; undefined when there is none, or when the
 * environment is not readable.
 */
export async function readOwnerTag(proc: string, pid: number): Promise<string | undefined> {
  const environment = await tryToRead(join(proc, String(pid), 'environ'))
  const entry = environment.split('\0').find((line) => line.startsWith(`${OWNER_TAG}=`))
  return entry?.slice(OWNER_TAG.length + 1)
}

/** Returns the user that a process runs as; undefined when there is no such process. */
export async function readUser(proc: string, pid: number): Promise<number | undefined> {
  return (await stat(join(proc, String(pid))).catch(ignoreGone))?.uid
}

/** Returns the id of a process's PID namespace; undefined where the system does not report it. */
export async function readNamespace(proc: string, pid: number): Promise<string | undefined> {
  const link = await readlink(join(proc, String(pid), 'ns', 'pid')).catch(ignoreGone)
  return link?.match(/\d+/)?.[0]
}

/**
 * Maps items with `look` and drops undefined results. Runs in batches, because each call holds a descriptor.
 */
export async function collectEach<T, R>(items: readonly T[], look: (item: T) => Promise<R | undefined>) {
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const batch = await Promise.all(items.slice(at, at + AT_ONCE).map(look))
    results.push(...batch.filter((result) => result !== undefined))
  }
  return results
}

/** Reads a file; empty when the process is gone or not accessible. */
async function tryToRead(path: string): Promise<string> {
  return (await readFile(path, 'latin1').catch(ignoreGone)) ?? ''
}

function ignoreGone(reason: unknown): undefined {
  if (!GONE.has(getErrorCode(reason))) throw reason
}

const AT_ONCE = 32
const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'])
