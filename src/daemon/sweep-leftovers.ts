import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isLeftover } from '../core/base/files.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { removeSiblings } from '../core/hooks/files/sibling.ts'
import type { Leases } from '../core/lease/types.ts'

/**
 * Removes temporary files that killed processes left in the folders of a home. Files younger than a minute
 * are kept, since their writers may still be running. Never throws.
 */
export async function sweepHome(paths: HomePaths, now: number): Promise<void> {
  const { home, agents, sessions, memory, index, run, subscriptions, crons } = paths
  const folders = [home, agents, sessions, memory, index, run, dirname(subscriptions), dirname(crons)]
  await Promise.all(folders.map((folder) => sweepFolder(folder, now - WRITE_MS)))
}

/** The leases of a home, and its clock. */
export interface SweepPorts {
  leases: Leases
  /** Returns milliseconds since the epoch. */
  now(): number
  /** Waits for a time in milliseconds. Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
}

/**
 * Removes the temporary files that processes left next to files when they died while changing them. Files
 * younger than a minute may belong to a process of another home; they are removed after that time. Never
 * throws.
 */
export async function sweepAbandoned(
  resources: readonly string[],
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<void> {
  try {
    const young = await sweepTargets(
      resources.filter((name) => name.startsWith(FILE)),
      ports,
      signal,
    )
    if (young.length === 0) return
    await ports.wait(WRITE_MS, signal)
    await sweepTargets(young, ports, signal)
  } catch {
    // this process is ending; a stray file does no harm
  }
}

/** Returns the resources that still have younger temporary files. */
async function sweepTargets(
  resources: readonly string[],
  { leases, now }: SweepPorts,
  signal: AbortSignal,
): Promise<string[]> {
  const young: string[] = []
  for (const resource of resources) {
    await using _lease = await leases.take(resource, signal)
    if (await removeSiblings(resource.slice(FILE.length), now() - WRITE_MS)) young.push(resource)
  }
  return young
}

async function sweepFolder(folder: string, before: number): Promise<void> {
  const names = await readdir(folder).catch(() => []) // the folder does not exist yet
  const leftovers = names.filter((name) => isLeftover(name, before))
  // a leftover does no harm
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)))
}

/** The longest time that one write can take, in milliseconds. */
const WRITE_MS = 60_000
const FILE = 'file:'
