import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { collectEach, readProcesses } from './proc-files.ts'

/**
 * Returns the resident memory, in bytes, of process groups that were started here, keyed by the pid of each
 * group leader. Memory shared by several processes counts for each of them. Groups that are gone are omitted,
 * as is everything on systems that do not report it (Windows).
 */
export async function groupMemory(
  groups: readonly number[],
  from: MemorySource = chooseSource(platform()),
): Promise<ReadonlyMap<number, number>> {
  if (groups.length === 0) return new Map()
  const groupIds = new Set(groups)
  const sums = new Map<number, number>()
  for (const { group, bytes } of await from(groupIds)) sums.set(group, (sums.get(group) ?? 0) + bytes)
  return sums
}

/** Lists the processes of these groups with their memory. */
export type MemorySource = (groups: ReadonlySet<number>) => Promise<readonly ResidentMemory[]>

/** The memory of one process. */
export interface ResidentMemory {
  group: number
  bytes: number
}

/** Reads memory from /proc on Linux, where a group that was started here is a session. */
export function memoryByProc(proc = '/proc'): MemorySource {
  return async (groups) => {
    const entries = (await readProcesses(proc)).filter(({ session }) => groups.has(session))
    return await collectEach(entries, async ({ pid, session: group }) => {
      // A process that has exited meanwhile has no file.
      const text = await readFile(join(proc, String(pid), 'status'), 'latin1').catch(() => '')
      const [, kilobytes] = /^VmRSS:\s*(\d+) kB/m.exec(text) ?? []
      return kilobytes === undefined ? undefined : { group, bytes: Number(kilobytes) * 1024 }
    })
  }
}

/** Reads memory from ps, on macOS and any other system that has it. */
export function memoryByPs(ps = '/bin/ps'): MemorySource {
  return async (groups) => {
    const { stdout } = await promisify(execFile)(ps, ['-A', '-o', 'pgid=', '-o', 'rss='])
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    return rows.flatMap(
      ([group = 0, kilobytes = 0]) =>
        kilobytes > 0 && groups.has(group) ? { group, bytes: kilobytes * 1024 } : [], // a zombie has none
    )
  }
}

function chooseSource(system: NodeJS.Platform): MemorySource {
  if (system === 'linux') return memoryByProc()
  return system === 'win32' ? async () => [] : memoryByPs()
}
