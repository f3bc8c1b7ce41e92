import { type Group, startGuarded } from './guarded-process.ts'
import { toTagPrefix } from './owner-tag.ts'
import type { Platform } from './platform.ts'
import { collectEach, readNamespace, readOwnerTag, readProcess, readProcesses } from './proc-files.ts'
import { sweepStrays } from './sweep.ts'
import { LIST_BY_PROC } from './wrapper.ts'

/** Linux: groups behind the wrapper; /proc shows what belongs to whom. */
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

/** The processes of a session, and those that left it but bear its mark. */
async function listMembers(proc: string, { pid: session, watcher, mark }: Group): Promise<number[]> {
  const entries = (await readProcesses(proc)).filter(({ isRunning }) => isRunning)
  const began = entries.find(({ pid }) => pid === watcher)?.startTime ?? 0
  const pids = await collectEach(entries, async (entry) => {
    if (entry.pid === watcher) return undefined
    if (entry.session === session) return entry.pid
    if (entry.startTime < began) return undefined // older than the program: not of it
    return (await readOwnerTag(proc, entry.pid)) === mark ? entry.pid : undefined
  })
  return pids
}
