import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readStamp } from '../../core/base/file-stamp.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { findSchedulerHolder } from '../../core/cron/scheduler-lease.ts'
import { isRunning } from '../../core/process/signals.ts'
import { toTime } from '../foreign-time.ts'
import type { Probe } from './types.ts'

/**
 * Probes the scheduler of a home: whether run/cron.json says that it is ready, whether it is still alive (it
 * holds a lease while it runs, because its process id may belong to another process by now), and whether it
 * works: it touches the file at every beat.
 */
export async function probeCron(paths: HomePaths): Promise<Probe> {
  const file = join(paths.run, 'cron.json')
  // Taken before the file is read, because the file may be rewritten meanwhile.
  const stamp = await readStamp(file).catch(() => undefined)
  const text = await readFile(file, 'utf8').catch(() => undefined) // it is not running
  if (text === undefined) return { answers: false }
  const { pid, ready, started, version, beat_ms: beatMs } = parseObject(text) ?? {}
  if (typeof pid !== 'number') return { answers: false, problem: 'run/cron.json is not valid' }
  if (!(await isScheduler(pid, paths))) return { answers: false, leftover: { file, ...(stamp && { stamp }) } }
  const since = toTime(started)
  const known = {
    pid,
    ...(since !== undefined && { since }),
    ...(typeof version === 'string' && { version }),
  }
  if (ready === false) return { ...known, answers: false, problem: 'it reports that it is not ready' }
  const silentMs = typeof beatMs === 'number' ? await readFileAge(file) : 0 // an older version does not beat
  if (silentMs <= MISSED_BEATS * Number(beatMs ?? 0)) return { ...known, answers: true }
  const problem = `it has not responded for ${Math.round(silentMs / 1000)} s`
  return { ...known, answers: false, problem }
}

/**
 * Returns the difference between a file's modification time and now, in milliseconds. It is absolute, because
 * the clock may have been set back.
 */
async function readFileAge(file: string): Promise<number> {
  const stats = await stat(file).catch(() => undefined) // it is just exiting
  return stats === undefined ? 0 : Math.abs(Date.now() - stats.mtimeMs)
}

/** The number of beats that the scheduler may miss while it waits for its disk. */
const MISSED_BEATS = 3

async function isScheduler(pid: number, paths: HomePaths): Promise<boolean> {
  if (!isRunning(pid)) return false
  try {
    return (await findSchedulerHolder(paths))?.pid === pid
  } catch {
    return true // the leases cannot be read, so assume that it is
  }
}
