import type { BigIntStats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lazy } from '../base/lazy.ts'
import type { HomePaths } from '../config/paths.ts'
import { isInside } from '../policy/paths.ts'

/** What of a home no tool that touches files opens: what undo finds there it writes to where it came from. */
export function ownPaths(paths: HomePaths): string[] {
  const { config, agents, vault, run, undo, trust, subscriptions, crons, serviceEnv } = paths
  return [config, agents, vault, run, undo, trust, subscriptions, crons, serviceEnv]
}

/** Files of a home that tools do not change as they like: rules of other turns, programs of services, what was said. */
export interface GuardedPaths {
  /** They may be read where a rule or the user permits it, and are never changed. */
  sealed: readonly string[]
  /** Changes are asked about, whatever rules and modes say: agents read them as instructions, or start what they name. */
  asked: readonly string[]
}

/** Lists what of a home may be read and not changed, or changed only after a question. */
export function guardedPaths(paths: HomePaths): GuardedPaths {
  const { sessions, memory, packages, index, history, logs, instructions, skills, catalog } = paths
  return {
    sealed: [sessions, memory, packages, index, history, logs],
    asked: [instructions, skills, catalog],
  }
}

/** What is closed to tools that touch files, looked at once for all the files of a call. */
export interface ProtectedPaths {
  /** Files, and folders with all below. Links resolved. */
  readonly paths: readonly string[]
  /** Whether a path, without links, lies in one. */
  holds(path: string): boolean
  /** Whether a file has another name that lies in one. None of these files is opened (0065 says why). */
  hasNameIn(stats: BigIntStats): Promise<boolean>
}

/**
 * `closed` are files, and folders with all below; they need not be there. What Linux tells of this process is closed too:
 * its environment and its memory hold keys.
 */
export async function openProtectedPaths(closed: readonly string[]): Promise<ProtectedPaths> {
  const own = await Promise.all(closed.map((place) => realpath(place).catch(() => place)))
  const places = [...own, ...(await ownProcess())]
  const folded = places.map(fold)
  const identities = lazy(() => identitiesIn(own))
  return {
    paths: places,
    holds: (path) => folded.some((place) => isInside(place, fold(path))),
    hasNameIn: async (stats) => stats.nlink > 1n && (await identities.get()).has(toIdentity(stats)),
  }
}

/** Each thread has a folder like that of its process, which no listing shows; none where there is no /proc. */
async function ownProcess(): Promise<string[]> {
  const threads = await readdir('/proc/self/task').catch(() => [])
  return threads.map((thread) => join('/proc', thread))
}

/** Some systems make no difference between upper and lower case, or between two ways to write an accent. */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

async function identitiesIn(places: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const place of places) {
    const names = await readdir(place, { recursive: true }).catch(() => []) // a file, or not there
    for (const path of [place, ...names.map((name) => join(place, name))]) {
      const stats = await stat(path, { bigint: true }).catch(() => undefined) // gone meanwhile
      if (stats) found.add(toIdentity(stats))
    }
  }
  return found
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
