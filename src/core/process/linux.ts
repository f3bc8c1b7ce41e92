import { type Group, startGuarded } from './guarded-process.ts'
import { toTagPrefix } from './owner-tag.ts'
import type { Platform } from './platform.ts'
import { collectEach, readNamespace, readOwnerTag, readProcess, readProcesses } from './proc-files.ts'
import { sweepStrays } from './sweep.ts'
import { LIST_BY_PROC } from './wrapper.ts'

/** The Linux platform: groups behind the wrapper. /proc shows which process belongs to which owner. */
export function linuxPlatform({ shell = '/bin/sh', proc = '/proc' } = {}): Platform {
  return {
    async identify(pid) {
      const [entry, namespace] = await Promise.all([readProcess(proc, pid), readNamespace(proc, pid)])
      return toTagPrefix({ namespace: namespace ?? '0', pid, startTime: entry?.startTime ?? 0 })
    },
    start: (launch) =>
      startGuarded(launch, { shell, list: LIST_BY_PROC, membersOf: (group) => listMembers(proc, group) }),
    sweep: (pid, signal) => sweepStrays({ proc, pid }, signal),
  }
}

/** Lists the processes of a session, and those that left it but have its owner tag. */
async function listMembers(proc: string, { pid: session, watcher, mark }: Group): Promise<number[]> {
  const entries = (await readProcesses(proc)).filter(({ isRunning }) => isRunning)
  const watcherStart = entries.find(({ pid }) => pid === watcher)?.startTime ?? 0
  const pids = await collectEach(entries, async (entry) => {
    if (entry.pid === watcher) return undefined
    if (entry.session === session) return entry.pid
    if (entry.startTime < watcherStart) return undefined // older than the program, so not part of it
    return (await readOwnerTag(proc, entry.pid)) === mark ? entry.pid : undefined
  })
  return pids
}
