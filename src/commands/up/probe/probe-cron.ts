import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readStamp } from '../../../core/base/file-stamp.ts'
import { parseObject } from '../../../core/base/json.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { isRunning } from '../../../core/process/signals.ts'
import { toTime } from '../../../up/foreign-time.ts'
import type { Probe } from '../../../up/probe.ts'
import { findSchedulerHolder } from '../../cron/scheduler-lease.ts'

/**
 * Whether the scheduler of a home says that it is ready, in run/cron.json, is still there (it holds a lease as long as it
 * runs, and a process of its number may be another one by now), and does its work: it touches that file all the time.
 */
export async function probeCron(paths: HomePaths): Promise<Probe> {
  const file = join(paths.run, 'cron.json')
  const stamp = await readStamp(file).catch(() => undefined) // before it is read: it may be written again meanwhile
  const text = await readFile(file, 'utf8').catch(() => undefined) // none runs
  if (text === undefined) return { answers: false }
  const { pid, ready, started, version, beat_ms: beatMs } = parseObject(text) ?? {}
  if (typeof pid !== 'number') return { answers: false, problem: 'run/cron.json is no state of it' }
  if (!(await isScheduler(pid, paths))) return { answers: false, leftover: { file, ...(stamp && { stamp }) } }
  const since = toTime(started)
  const known = {
    pid,
    ...(since !== undefined && { since }),
    ...(typeof version === 'string' && { version }),
  }
  if (ready === false) return { ...known, answers: false, problem: 'it says that it is not ready' }
  const silentMs = typeof beatMs === 'number' ? await readFileAge(file) : 0 // one of an older version does not beat
  if (silentMs <= MISSED_BEATS * Number(beatMs ?? 0)) return { ...known, answers: true }
  const problem = `it has shown no sign of life for ${Math.round(silentMs / 1000)} s`
  return { ...known, answers: false, problem }
}

/** The difference between a file's time and now, in milliseconds. It is absolute, because the clock may have been set back. */
async function readFileAge(file: string): Promise<number> {
  const stats = await stat(file).catch(() => undefined) // it ends in this moment
  return stats === undefined ? 0 : Math.abs(Date.now() - stats.mtimeMs)
}

/** The number of beats that a process may miss while it waits for its disk. */
const MISSED_BEATS = 3

async function isScheduler(pid: number, paths: HomePaths): Promise<boolean> {
  if (!isRunning(pid)) return false
  try {
    return (await findSchedulerHolder(paths))?.pid === pid
  } catch {
    return true // the leases cannot be read, which says nothing of it
  }
}
