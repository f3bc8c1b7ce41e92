import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isLeftover } from '../core/base/files.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { removeSiblings } from '../core/hooks/files/sibling.ts'
import type { Leases } from '../core/lease/types.ts'

/**
 * Removes temporary files that killed processes left in the folders of a home. Files younger than a minute stay, since
 * their writers may still run. Never throws.
 */
export async function sweepHome(paths: HomePaths, now: number): Promise<void> {
  const { home, agents, sessions, memory, index, run, subscriptions, crons } = paths
  const folders = [home, agents, sessions, memory, index, run, dirname(subscriptions), dirname(crons)]
  await Promise.all(folders.map((folder) => sweepFolder(folder, now - WRITE_MS)))
}

/** Removes what processes that died while they changed files left beside those files. Never throws. */
export async function sweepAbandoned(
  resources: readonly string[],
  leases: Leases,
  signal: AbortSignal,
): Promise<void> {
  for (const resource of resources.filter((name) => name.startsWith(FILE))) {
    try {
      await using _lease = await leases.take(resource, signal)
      await removeSiblings(resource.slice(FILE.length))
    } catch {
      return // this process is ending; a stray file does no harm
    }
  }
}

async function sweepFolder(folder: string, before: number): Promise<void> {
  const names = await readdir(folder).catch(() => []) // the folder does not exist yet
  const leftovers = names.filter((name) => isLeftover(name, before))
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined))) // only untidy
}

/** How long one write can take at most, milliseconds. */
const WRITE_MS = 60_000
const FILE = 'file:'
