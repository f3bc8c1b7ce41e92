import { setTimeout as sleep } from 'node:timers/promises'
import { parseOwnerTag } from './owner-tag.ts'
import {
  collectEach,
  readNamespace,
  readOwnerTag,
  readProcess,
  readProcesses,
  readUser,
} from './proc-files.ts'
import { sendSignal } from './signals.ts'

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

async function findStrays({ proc, pid: own }: { proc: string; pid: number }): Promise<number[]> {
  const [namespace, user] = await Promise.all([readNamespace(proc, own), readUser(proc, own)])
  if (namespace === undefined || user === undefined) return []
  return await collectEach(await readProcesses(proc), async ({ pid }) => {
    if (pid === own || (await readUser(proc, pid)) !== user) return undefined
    const owner = parseOwnerTag((await readOwnerTag(proc, pid)) ?? '')
    if (owner?.namespace !== namespace) return undefined
    const now = await readProcess(proc, owner.pid)
    return now?.isRunning && now.startTime === owner.startTime ? undefined : pid
  })
}

const TERM_MS = 2000
