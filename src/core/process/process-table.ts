import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { collectEach, readProcesses } from './proc-files.ts'

/**
 * The resource use of a process and everything that belongs to it: its descendants, its session and its
 * group.
 */
export interface ProcessFamily {
  /** The start time, in milliseconds since 1970, accurate to about a second. */
  startedAt: number
  /** The resident memory of all of them, in bytes. Shared memory counts for each. */
  memoryBytes: number
  /** The process ids, with the process itself first. */
  pids: readonly number[]
}

/** One process of a listing. */
export interface ListedProcess {
  pid: number
  parent: number
  /** The id of its session, or of its group where the system does not show sessions. */
  group: number
  startedAt: number
  bytes: number
}

/** Lists all processes, except those that exit meanwhile. */
export type ProcessList = () => Promise<readonly ListedProcess[]>

/**
 * Returns the running processes with those ids, each with everything that belongs to it. Processes that
 * cannot be inspected are omitted.
 */
export async function readFamilies(
  pids: readonly number[],
  list: ProcessList = chooseList(platform()),
): Promise<ReadonlyMap<number, ProcessFamily>> {
  if (pids.length === 0) return new Map()
  const all = await list().catch(() => []) // neither /proc nor ps is available
  const children = Map.groupBy(all, ({ parent }) => parent)
  const groups = Map.groupBy(all, ({ group }) => group)
  const families = new Map<number, ProcessFamily>()
  for (const first of all.filter(({ pid }) => pids.includes(pid))) {
    const family = new Set<ListedProcess>([first])
    for (const one of family) {
      const relatives = [...(children.get(one.pid) ?? []), ...(groups.get(one.pid) ?? [])]
      for (const other of relatives) if (isYounger(other, one)) family.add(other)
    }
    const memoryBytes = [...family].reduce((sum, { bytes }) => sum + bytes, 0)
    families.set(first.pid, {
      startedAt: first.startedAt,
      memoryBytes,
      pids: [...family].map(({ pid }) => pid),
    })
  }
  return families
}

/** Lists processes through /proc on Linux. */
export function listByProc(proc = '/proc', now: () => number = Date.now): ProcessList {
  return async () => {
    const uptime = Number((await readFile(join(proc, 'uptime'), 'latin1')).split(' ')[0])
    const booted = now() - uptime * 1000
    const entries = (await readProcesses(proc)).filter(({ isRunning }) => isRunning)
    return await collectEach(entries, async ({ pid, session, startTime }) => {
      // A process that has exited meanwhile has no file.
      const text = await readFile(join(proc, String(pid), 'status'), 'latin1').catch(() => '')
      const [, parent] = /^PPid:\s*(\d+)/m.exec(text) ?? []
      if (parent === undefined) return undefined
      const [, kilobytes = 0] = /^VmRSS:\s*(\d+) kB/m.exec(text) ?? [] // kernel threads have none
      const startedAt = booted + (startTime / TICKS_PER_SECOND) * 1000
      return { pid, parent: Number(parent), group: session, startedAt, bytes: Number(kilobytes) * 1024 }
    })
  }
}

/** Lists processes through ps, on macOS and any other system with a POSIX ps. */
export function listByPs(ps = '/bin/ps', now: () => number = Date.now): ProcessList {
  return async () => {
    const columns = ['pid=', 'ppid=', 'pgid=', 'rss=', 'etime='].flatMap((one) => ['-o', one])
    const { stdout } = await promisify(execFile)(ps, ['-A', ...columns], { maxBuffer: MAX_BYTES })
    return stdout.split('\n').flatMap((line) => {
      const [pid, parent, group, kilobytes, elapsed] = line.trim().split(/\s+/)
      if (elapsed === undefined || kilobytes === '0') return [] // a zombie has no memory
      const startedAt = now() - toMilliseconds(elapsed)
      return {
        ...{ pid: Number(pid), parent: Number(parent), group: Number(group) },
        ...{ startedAt, bytes: Number(kilobytes) * 1024 },
      }
    })
  }
}

/** Lists processes on Windows, which does not have groups. */
function listByPowershell(powershell = 'powershell.exe'): ProcessList {
  return async () => {
    const script = `Get-CimInstance Win32_Process | ForEach-Object { '{0} {1} {2} {3}' -f $_.ProcessId, $_.ParentProcessId, $_.WorkingSetSize, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }`
    const args = ['-NoProfile', '-NonInteractive', '-Command', script]
    const options = { maxBuffer: MAX_BYTES, windowsHide: true, timeout: 10_000 }
    const { stdout } = await promisify(execFile)(powershell, args, options)
    return stdout.split(/\r?\n/).flatMap((line) => {
      const [pid, parent, bytes, startedAt] = line.trim().split(' ').map(Number)
      if (pid === undefined || parent === undefined || bytes === undefined || !startedAt) return []
      return { pid, parent, group: pid, startedAt, bytes }
    })
  }
}

/**
 * Whether a child is younger than its parent. Windows keeps the id of a parent that has exited, which another
 * process may have by now.
 */
function isYounger(child: ListedProcess, parent: ListedProcess): boolean {
  return child.startedAt > parent.startedAt - CLOCK_MS
}

/** Parses `[[dd-]hh:]mm:ss` of ps(1). */
function toMilliseconds(elapsed: string): number {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(elapsed) ?? []
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}

function chooseList(system: NodeJS.Platform): ProcessList {
  if (system === 'linux') return listByProc()
  return system === 'win32' ? listByPowershell() : listByPs()
}

/**
 * The clock ticks per second that Linux reports to programs, independent of its kernel
 * (sysconf(_SC_CLK_TCK)).
 */
const TICKS_PER_SECOND = 100
/** The maximum difference between two equal times that ps(1) gives in seconds. */
const CLOCK_MS = 2000
const MAX_BYTES = 16 * 1024 * 1024
