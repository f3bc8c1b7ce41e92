import { existsSync } from 'node:fs'
import { readFile, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../base/files.ts'
import { parseObject } from '../base/json.ts'
import { VERSION } from '../base/version.ts'
import type { HomePaths } from '../config/paths.ts'

/**
 * Returns the files in run/: the one that says that a scheduler runs, the state of its entries, and the
 * record of manual runs.
 */
export function cronFiles({ run }: Pick<HomePaths, 'run'>) {
  return {
    ready: join(run, 'cron.json'),
    state: join(run, 'cron-state.json'),
    byHand: join(run, 'cron-by-hand.json'),
  }
}

/** Writes the ready file of a scheduler that fires from now on. Throws `storage`. */
export async function writeReady(path: string, pid: number): Promise<void> {
  const started = new Date().toISOString()
  const ready = { v: 1, pid, started, ready: true, version: VERSION, beat_ms: HEARTBEAT_MS }
  await replaceFile(path, `${JSON.stringify(ready)}\n`)
}

/** The options of keepReady(). */
export interface ReadyFileOptions {
  pid: number
  /** Whether the home is still the one that this process schedules. */
  isOurs(): Promise<boolean>
  /** Called when the file was removed together with its home. */
  onRemoved(): void
}

/**
 * Maintains the ready file: its modification time shows that the scheduler still works, a file that was
 * removed is written again, and `onRemoved` is called when the home was removed or replaced. Keeps the process
 * alive.
 */
export function keepReady(path: string, { pid, isOurs, onRemoved }: ReadyFileOptions): Disposable {
  let beatAt = Date.now()
  const check = async () => {
    if (existsSync(path)) {
      const now = Date.now()
      if (Math.abs(now - beatAt) < HEARTBEAT_MS) return
      beatAt = now // wall-clock time, so that it beats immediately after a suspend
      return await utimes(path, new Date(now), new Date(now))
    }
    if (await isOurs()) await writeReady(path, pid)
    else onRemoved()
  }
  const timer = setInterval(() => {
    check().catch(() => undefined) // the next poll tries again
  }, POLL_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Removes the ready file if it belongs to this process. Never fails: a file that is left names a process that
 * is gone.
 */
export async function removeReady(path: string, pid: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (parseObject(text)?.['pid'] === pid) await rm(path, { force: true }).catch(() => undefined)
}

/** The interval in milliseconds at which a working scheduler touches its file. */
const HEARTBEAT_MS = 10_000
/** The interval in milliseconds of the checks whether the file still exists. */
const POLL_MS = 2000
