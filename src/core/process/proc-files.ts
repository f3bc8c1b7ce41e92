import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getErrorCode } from '../base/system-error.ts'
import { OWNER_TAG } from './owner-tag.ts'

/** A process as Linux shows it in `/proc/<pid>/stat` (proc(5)). */
export interface ProcessEntry {
  pid: number
  session: number
  /** Clock ticks since boot. */
  startTime: number
  /** False for one that has ended and waits for its parent to notice. */
  isRunning: boolean
}

/** All processes; those that end meanwhile are left out. */
export async function readProcesses(proc: string): Promise<ProcessEntry[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name))
  return await collectEach(pids, (pid) => readProcess(proc, Number(pid)))
}

/** One process; undefined when there is none of that id. */
export async function readProcess(proc: string, pid: number): Promise<ProcessEntry | undefined> {
  const text = await tryToRead(join(proc, String(pid), 'stat'))
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // a name may hold anything, also `)`
  const [state = '', , , session, startTime] = [0, 1, 2, 3, 19].map((at) => fields[at])
  if (startTime === undefined) return undefined
  return {
    pid,
    session: Number(session),
    startTime: Number(startTime),
    isRunning: !ENDED.has(state),
  }
}

/** The mark in a process's environment, as it was started; undefined without one, or when it may not be read. */
export async function readOwnerTag(proc: string, pid: number): Promise<string | undefined> {
  const environment = await tryToRead(join(proc, String(pid), 'environ'))
  const entry = environment.split('\0').find((line) => line.startsWith(`${OWNER_TAG}=`))
  return entry?.slice(OWNER_TAG.length + 1)
}

/** The user that a process runs as; undefined when there is no such process. */
export async function readUser(proc: string, pid: number): Promise<number | undefined> {
  return (await stat(join(proc, String(pid))).catch(ifGone))?.uid
}

/** The id of a process's namespace of process ids; undefined where the system does not say. */
export async function readNamespace(proc: string, pid: number): Promise<string | undefined> {
  const link = await readlink(join(proc, String(pid), 'ns', 'pid')).catch(ifGone)
  return link?.match(/\d+/)?.[0]
}

/** What `look` finds about each of them, a few at a time: each look holds a descriptor. */
export async function collectEach<T, R>(items: readonly T[], look: (item: T) => Promise<R | undefined>) {
  const found: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = await Promise.all(items.slice(at, at + AT_ONCE).map(look))
    found.push(...some.filter((result) => result !== undefined))
  }
  return found
}

/** Empty when the process is gone or not ours to read. */
async function tryToRead(path: string): Promise<string> {
  return (await readFile(path, 'latin1').catch(ifGone)) ?? ''
}

function ifGone(reason: unknown): undefined {
  if (!GONE.has(getErrorCode(reason))) throw reason
}

const AT_ONCE = 32
const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'])
