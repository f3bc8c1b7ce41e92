import { setTimeout as sleep } from 'node:timers/promises'
import { type Group, startGuarded } from './guarded-process.ts'
import { parseOwnerTag, toTagPrefix } from './owner-tag.ts'
import type { Platform } from './platform.ts'
import {
  collectEach,
  readNamespace,
  readOwnerTag,
  readPids,
  readProcess,
  readProcesses,
  readUser,
} from './proc-files.ts'
import { sendSignal } from './signals.ts'
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

/**
 * Ends programs whose owners died and whose watchers died too or could not reach them: TERM, and KILL two
 * seconds later. These programs have the owner tag of a dead process in this PID namespace, and run as the
 * same user as this process.
 *
 * It is meant for start-up, in the background, and takes about 30 µs of processor time per process of this
 * user. An abort leaves the rest to the next sweep. Linux only.
 */
export async function sweepStrays(from: { proc: string; pid: number }, signal: AbortSignal): Promise<void> {
  const strays = await findStrays(from)
  if (strays.length === 0 || signal.aborted) return
  for (const pid of strays) sendSignal(pid, 'SIGTERM')
  await sleep(TERM_MS, undefined, { signal, ref: false })
  // Strays are looked up again, because another process may have one of these ids by now.
  const still = new Set(await findStrays(from))
  for (const pid of strays.filter((stray) => still.has(stray))) sendSignal(pid, 'SIGKILL')
}

/** Lists the processes of a session, and those that left it but have its owner tag. */
async function listMembers(proc: string, { pid: session, watcher, ownerTag }: Group): Promise<number[]> {
  const entries = (await readProcesses(proc)).filter(({ isRunning }) => isRunning)
  const watcherStart = entries.find(({ pid }) => pid === watcher)?.startTime ?? 0
  const pids = await collectEach(entries, async (entry) => {
    if (entry.pid === watcher) return undefined
    if (entry.session === session) return entry.pid
    if (entry.startTime < watcherStart) return undefined // older than the program, so not part of it
    return (await readOwnerTag(proc, entry.pid)) === ownerTag ? entry.pid : undefined
  })
  return pids
}

async function findStrays({ proc, pid: own }: { proc: string; pid: number }): Promise<number[]> {
  const [namespace, user] = await Promise.all([readNamespace(proc, own), readUser(proc, own)])
  if (namespace === undefined || user === undefined) return []
  return await collectEach(await readPids(proc), async (pid) => {
    if (pid === own || (await readUser(proc, pid)) !== user) return undefined
    const owner = parseOwnerTag((await readOwnerTag(proc, pid)) ?? '')
    if (owner?.namespace !== namespace) return undefined
    const now = await readProcess(proc, owner.pid)
    return now?.isRunning && now.startTime === owner.startTime ? undefined : pid
  })
}

const TERM_MS = 2000
