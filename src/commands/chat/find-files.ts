import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { listFiles } from '../../core/hooks/search/list-files.ts'
import type { BaseFolders } from './write-new.ts'

const MAX_ENTRIES = 20_000
const MAX_LISTING_MS = 150
/** The lifetime of a cached listing in milliseconds. */
const LISTING_CACHE_MS = 3_000
/** The maximum number of paths returned. */
const MAX_FOUND = 50

/** Finds the paths that match the text after an `@`, best first; folders end in `/`. Fails when aborted. */
export type FindFiles = (query: string, signal: AbortSignal) => Promise<string[]>

/** The folders in which files are found, and a clock. */
export interface FileFinderOptions extends BaseFolders {
  /** Returns milliseconds since the epoch. */
  now(): number
}

/**
 * Returns a finder of files below the working directory, which caches a listing briefly, and in any other
 * folder by its path.
 */
export function openFileFinder(options: FileFinderOptions): FindFiles {
  const listings = new Map<boolean, { until: number; paths: Promise<string[]> }>()
  const list = (hidden: boolean): Promise<string[]> => {
    const now = options.now()
    const known = listings.get(hidden)
    if (known && now < known.until) return known.paths
    const bounds = { hidden, mostEntries: MAX_ENTRIES, until: now + MAX_LISTING_MS, now: options.now }
    const paths = listFiles(options.cwd, bounds, neverAborted())
    listings.set(hidden, { until: now + LISTING_CACHE_MS, paths })
    return paths
  }
  return async (query, signal) => {
    if (OTHER_FOLDER.test(query)) return await listElsewhere(query, options)
    const paths = await list(/(?:^|\/)\./.test(query))
    signal.throwIfAborted()
    return rankPaths(paths, query).slice(0, MAX_FOUND)
  }
}

/**
 * Returns the matching paths, best first: by name, by the start of a name, by a part of the path, by its
 * letters in order.
 */
function rankPaths(paths: readonly string[], query: string): string[] {
  const term = query.toLowerCase()
  return paths
    .map((path) => ({ path, rank: scorePath(path, term), depth: countSegments(path) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted(
      (a, b) =>
        a.rank - b.rank || a.depth - b.depth || a.path.length - b.path.length || byText(a.path, b.path),
    )
    .map(({ path }) => path)
}

const OTHER_FOLDER = /^(?:~?\/|\.{1,2}\/)/

/** Lists the entries of a folder by its path, written as in the query. */
async function listElsewhere(query: string, { cwd, home }: BaseFolders): Promise<string[]> {
  const folder = query.slice(0, query.lastIndexOf('/') + 1)
  const name = query.slice(folder.length).toLowerCase()
  const path = folder.startsWith('~/') ? join(home, folder.slice(2)) : resolve(cwd, folder)
  const entries = await readdir(path, { withFileTypes: true }).catch((): Dirent[] => []) // not a folder yet
  return entries
    .filter((entry) => entry.name.toLowerCase().startsWith(name))
    .filter((entry) => name.startsWith('.') || !entry.name.startsWith('.'))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .toSorted(byText)
    .slice(0, MAX_FOUND)
}

function scorePath(path: string, term: string): number {
  const lower = path.toLowerCase()
  const name = baseName(lower)
  if (term === '') return 0
  if (name === term || lower === term) return 0
  if (name.startsWith(term)) return 1
  if (lower.startsWith(term)) return 2
  if (name.includes(term)) return 3
  if (lower.includes(term)) return 4
  return hasInOrder(lower, term) ? 5 : Number.POSITIVE_INFINITY
}

function baseName(path: string): string {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path
  return whole.slice(whole.lastIndexOf('/') + 1)
}

function hasInOrder(path: string, term: string): boolean {
  let at = 0
  for (const char of term) {
    const found = path.indexOf(char, at)
    if (found < 0) return false
    at = found + char.length
  }
  return true
}

function countSegments(path: string): number {
  return path.split('/').length - (path.endsWith('/') ? 1 : 0)
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns a signal that never aborts: several callers may wait for one listing, which takes little time. */
function neverAborted(): AbortSignal {
  return new AbortController().signal
}
