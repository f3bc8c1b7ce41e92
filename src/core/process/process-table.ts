import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { collectEach, readProcesses } from './proc-files.ts'

/** What the system says of a process, and of all that belongs to it: its children and theirs, its session and group. */
export interface ProcessFamily {
  /** When it began, milliseconds since 1970, to about a second. */
  startedAt: number
  /** Resident memory of all of them, bytes; what several share counts for each. */
  memoryBytes: number
  /** Who they are, the process itself first. */
  pids: readonly number[]
}

/** One process. */
export interface ListedProcess {
  pid: number
  parent: number
  /** Of its session, or of its group where the system shows no sessions. */
  group: number
  startedAt: number
  bytes: number
}

/** All processes; those that end meanwhile are left out. */
export type ProcessList = () => Promise<readonly ListedProcess[]>

/** The processes of those ids that run, and what belongs to each. What cannot be found out is left out. */
export async function readFamilies(
  pids: readonly number[],
  list: ProcessList = chooseList(platform()),
): Promise<ReadonlyMap<number, ProcessFamily>> {
  if (pids.length === 0) return new Map()
  const all = await list().catch(() => []) // no /proc, no ps: nobody can tell
  const children = Map.groupBy(all, ({ parent }) => parent)
  const groups = Map.groupBy(all, ({ group }) => group)
  const families = new Map<number, ProcessFamily>()
  for (const first of all.filter(({ pid }) => pids.includes(pid))) {
    const family = new Set<ListedProcess>([first])
    for (const one of family) {
      const near = [...(children.get(one.pid) ?? []), ...(groups.get(one.pid) ?? [])]
      for (const other of near) if (isYounger(other, one)) family.add(other)
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

/** Linux. */
export function listByProc(proc = '/proc', now: () => number = Date.now): ProcessList {
  return async () => {
    const uptime = Number((await readFile(join(proc, 'uptime'), 'latin1')).split(' ')[0])
    const booted = now() - uptime * 1000
    const entries = (await readProcesses(proc)).filter(({ isRunning }) => isRunning)
    return await collectEach(entries, async ({ pid, session, startTime }) => {
      const text = await readFile(join(proc, String(pid), 'status'), 'latin1').catch(() => '') // it is gone
      const [, parent] = /^PPid:\s*(\d+)/m.exec(text) ?? []
      if (parent === undefined) return undefined
      const [, kilobytes = 0] = /^VmRSS:\s*(\d+) kB/m.exec(text) ?? [] // the kernel's own have none
      const startedAt = booted + (startTime / TICKS_PER_SECOND) * 1000
      return { pid, parent: Number(parent), group: session, startedAt, bytes: Number(kilobytes) * 1024 }
    })
  }
}

/** macOS, and wherever there is a ps that knows POSIX. */
export function listByPs(ps = '/bin/ps', now: () => number = Date.now): ProcessList {
  return async () => {
    const columns = ['pid=', 'ppid=', 'pgid=', 'rss=', 'etime='].flatMap((one) => ['-o', one])
    const { stdout } = await promisify(execFile)(ps, ['-A', ...columns], { maxBuffer: MOST_BYTES })
    return stdout.split('\n').flatMap((line) => {
      const [pid, parent, group, kilobytes, elapsed] = line.trim().split(/\s+/)
      if (elapsed === undefined || kilobytes === '0') return [] // a dead one has no memory
      const startedAt = now() - toMilliseconds(elapsed)
      return {
        ...{ pid: Number(pid), parent: Number(parent), group: Number(group) },
        ...{ startedAt, bytes: Number(kilobytes) * 1024 },
      }
    })
  }
}

/** Windows, which knows no groups. */
function listByPowershell(powershell = 'powershell.exe'): ProcessList {
  return async () => {
    const script = `Get-CimInstance Win32_Process | ForEach-Object { '{0} {1} {2} {3}' -f $_.ProcessId, $_.ParentProcessId, $_.WorkingSetSize, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }`
    const args = ['-NoProfile', '-NonInteractive', '-Command', script]
    const options = { maxBuffer: MOST_BYTES, windowsHide: true, timeout: 10_000 }
    const { stdout } = await promisify(execFile)(powershell, args, options)
    return stdout.split(/\r?\n/).flatMap((line) => {
      const [pid, parent, bytes, startedAt] = line.trim().split(' ').map(Number)
      if (pid === undefined || parent === undefined || bytes === undefined || !startedAt) return []
      return { pid, parent, group: pid, startedAt, bytes }
    })
  }
}

/** Windows keeps the id of a parent that has ended, which another process may have by now. */
function isYounger(child: ListedProcess, parent: ListedProcess): boolean {
  return child.startedAt > parent.startedAt - CLOCK_MS
}

/** `[[dd-]hh:]mm:ss` of ps(1). */
function toMilliseconds(elapsed: string): number {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(elapsed) ?? []
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}

function chooseList(system: NodeJS.Platform): ProcessList {
  if (system === 'linux') return listByProc()
  return system === 'win32' ? listByPowershell() : listByPs()
}

/** What Linux counts times in for programs, whatever its kernel uses (sysconf(_SC_CLK_TCK)). */
const TICKS_PER_SECOND = 100
/** What two times that ps(1) gives in seconds may differ by. */
const CLOCK_MS = 2000
const MOST_BYTES = 16 * 1024 * 1024
