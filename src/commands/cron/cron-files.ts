import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'

/** What a scheduler leaves in run/: that it is there, and how its entries fare. */
export function cronFiles({ run }: Pick<HomePaths, 'run'>): { ready: string; state: string } {
  return { ready: join(run, 'cron.json'), state: join(run, 'cron-state.json') }
}

/** Removes the file that says so, if it is that of this process. Never fails: what is left says who has gone. */
export async function removeReady(path: string, pid: number): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (parseObject(text)?.['pid'] === pid) await rm(path, { force: true }).catch(() => undefined)
}
