import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'

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

/** The interval in milliseconds at which a working scheduler touches its file. */
export const HEARTBEAT_MS = 10_000

/**
 * Removes the ready file if it belongs to this process. Never fails: a file that is left names a process that
 * is gone.
 */
export async function removeReady(path: string, pid: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (parseObject(text)?.['pid'] === pid) await rm(path, { force: true }).catch(() => undefined)
}
