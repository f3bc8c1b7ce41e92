import type { BigIntStats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lazy } from '../base/lazy.ts'
import type { HomePaths } from '../config/paths.ts'
import { isInside } from '../policy/paths.ts'

/**
 * Lists the paths of a home that tools which touch files never open. The undo folder is one because undo
 * writes what it finds there back to the original paths.
 */
export function ownPaths(paths: HomePaths): string[] {
  const { config, agents, vault, vaultKeys, dotEnv, run, undo, trust, userServers, subscriptions } = paths
  const { crons, serviceEnv } = paths
  return [
    config,
    agents,
    vault,
    vaultKeys,
    dotEnv,
    run,
    undo,
    trust,
    userServers,
    subscriptions,
    crons,
    serviceEnv,
  ]
}

/**
 * Paths of a home that tools may change only with restrictions: rules of other turns, programs of services,
 * conversations.
 */
export interface GuardedPaths {
  /** Paths that may be read where a rule or the user permits it, and are never changed. */
  sealed: readonly string[]
  /**
   * Paths whose changes always need the user's permission, whatever rules and modes say: agents read them as
   * instructions, or start the programs that they name.
   */
  alwaysAsk: readonly string[]
}

/** Lists the paths of a home that may be read but not changed, or changed only with the user's permission. */
export function guardedPaths(paths: HomePaths): GuardedPaths {
  const { sessions, memory, packages, index, history, logs, instructions, skills, catalog } = paths
  return {
    sealed: [sessions, memory, packages, index, history, logs],
    alwaysAsk: [instructions, skills, catalog],
  }
}

/** The paths that are closed to tools which touch files, resolved once for all the files of a call. */
export interface ProtectedPaths {
  /** Files, and folders with everything below them; links resolved. */
  readonly paths: readonly string[]
  /** Whether a path, which must have no links, lies in one of them. */
  holds(path: string): boolean
  /**
   * Whether a file has a hard link that lies in one of them. It never opens those files (ADR 0065 says why).
   */
  hasNameIn(stats: BigIntStats): Promise<boolean>
}

/**
 * Resolves the paths that are closed to tools: `closed`, files and folders with everything below them, which
 * need not exist, and the folders of this process in /proc, because its environment and its memory contain
 * keys.
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

/**
 * Returns the /proc folders of this process and its threads, each of which has one that no listing shows;
 * none where there is no /proc.
 */
async function ownProcess(): Promise<string[]> {
  const threads = await readdir('/proc/self/task').catch(() => [])
  return threads.map((thread) => join('/proc', thread))
}

/** Normalizes a path: some systems do not distinguish upper and lower case, or two encodings of an accent. */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

async function identitiesIn(places: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const place of places) {
    const names = await readdir(place, { recursive: true }).catch(() => []) // a file, or missing
    for (const path of [place, ...names.map((name) => join(place, name))]) {
      const stats = await stat(path, { bigint: true }).catch(() => undefined) // deleted in the meantime
      if (stats) found.add(toIdentity(stats))
    }
  }
  return found
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
