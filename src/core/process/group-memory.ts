import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { collectEach, readProcesses } from './proc-files.ts'

/**
 * Resident memory of process groups that were started here, bytes, under the pid that leads each. What several of its
 * processes share counts for each of them. Left out: what is gone, and everything where the system does not tell (Windows).
 */
export async function groupMemory(
  groups: readonly number[],
  from: MemorySource = chooseSource(platform()),
): Promise<ReadonlyMap<number, number>> {
  if (groups.length === 0) return new Map()
  const wanted = new Set(groups)
  const sums = new Map<number, number>()
  for (const { group, bytes } of await from(wanted)) sums.set(group, (sums.get(group) ?? 0) + bytes)
  return sums
}

/** Looks at the processes of these groups. */
export type MemorySource = (groups: ReadonlySet<number>) => Promise<readonly ResidentMemory[]>

/** One process. */
export interface ResidentMemory {
  group: number
  bytes: number
}

/** Linux: a group that was started here is a session. */
export function memoryByProc(proc = '/proc'): MemorySource {
  return async (groups) => {
    const entries = (await readProcesses(proc)).filter(({ session }) => groups.has(session))
    return await collectEach(entries, async ({ pid, session: group }) => {
      const text = await readFile(join(proc, String(pid), 'status'), 'latin1').catch(() => '') // it is gone
      const [, kilobytes] = /^VmRSS:\s*(\d+) kB/m.exec(text) ?? []
      return kilobytes === undefined ? undefined : { group, bytes: Number(kilobytes) * 1024 }
    })
  }
}

/** macOS, and wherever there is a ps. */
export function memoryByPs(ps = '/bin/ps'): MemorySource {
  return async (groups) => {
    const { stdout } = await promisify(execFile)(ps, ['-A', '-o', 'pgid=', '-o', 'rss='])
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    return rows.flatMap(
      ([group = 0, kilobytes = 0]) =>
        kilobytes > 0 && groups.has(group) ? { group, bytes: kilobytes * 1024 } : [], // a dead one has none
    )
  }
}

function chooseSource(system: NodeJS.Platform): MemorySource {
  if (system === 'linux') return memoryByProc()
  return system === 'win32' ? async () => [] : memoryByPs()
}
