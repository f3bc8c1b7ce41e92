import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stampOf } from '../../../core/base/file-stamp.ts'
import { parseObject } from '../../../core/base/json.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { isRunning } from '../../../core/process/signals.ts'
import { toTime } from '../../../up/foreign-time.ts'
import type { Probe } from '../../../up/probe.ts'
import { schedulerHolder } from '../../cron/scheduler-lease.ts'

/**
 * Whether the scheduler of a home says that it is ready, in run/cron.json, and is still there: it holds a lease as long as
 * it runs, and a process of its number may be another one by now.
 */
export async function probeCron(paths: HomePaths): Promise<Probe> {
  const file = join(paths.run, 'cron.json')
  const stamp = await stampOf(file).catch(() => undefined) // before it is read: it may be written again meanwhile
  const text = await readFile(file, 'utf8').catch(() => undefined) // none runs
  if (text === undefined) return { answers: false }
  const { pid, ready, started, version } = parseObject(text) ?? {}
  if (typeof pid !== 'number') return { answers: false, problem: 'run/cron.json is no state of it' }
  if (!(await isScheduler(pid, paths))) return { answers: false, leftover: { file, ...(stamp && { stamp }) } }
  const since = toTime(started)
  const known = {
    pid,
    ...(since !== undefined && { since }),
    ...(typeof version === 'string' && { version }),
  }
  return ready === false
    ? { ...known, answers: false, problem: 'it says that it is not ready' }
    : { ...known, answers: true }
}

async function isScheduler(pid: number, paths: HomePaths): Promise<boolean> {
  if (!isRunning(pid)) return false
  try {
    return (await schedulerHolder(paths))?.pid === pid
  } catch {
    return true // the leases cannot be read, which says nothing of it
  }
}
