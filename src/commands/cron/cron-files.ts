import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'

/** What is left in run/: by a scheduler that it is there, and how its entries fare; by people what they ran themselves. */
export function cronFiles({ run }: Pick<HomePaths, 'run'>) {
  return {
    ready: join(run, 'cron.json'),
    state: join(run, 'cron-state.json'),
    byHand: join(run, 'cron-by-hand.json'),
  }
}

/** The interval in milliseconds at which a working scheduler touches its file. */
export const HEARTBEAT_MS = 10_000

/** Removes the file that says so, if it is that of this process. Never fails: what is left says who has gone. */
export async function removeReady(path: string, pid: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (parseObject(text)?.['pid'] === pid) await rm(path, { force: true }).catch(() => undefined)
}
