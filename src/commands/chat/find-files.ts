import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { listFiles } from './file-list.ts'
import type { BaseFolders } from './write-new.ts'

const MOST_ENTRIES = 20_000
const MOST_MS = 150
/** How long a listing is good for. */
const LISTING_CACHE_MS = 3_000
/** Paths that are given at most. */
const MOST_FOUND = 50

/** Paths that fit what stands behind an `@`, best first; folders end in `/`. An abort fails. */
export type FindFiles = (query: string, signal: AbortSignal) => Promise<string[]>

export interface FileFinderOptions extends BaseFolders {
  /** Milliseconds since 1970. */
  now(): number
}

/** Finds files below the working directory, by a listing that is kept for a moment; and, by its path, in any other folder. */
export function openFileFinder(options: FileFinderOptions): FindFiles {
  const listings = new Map<boolean, { until: number; paths: Promise<string[]> }>()
  const list = (hidden: boolean): Promise<string[]> => {
    const now = options.now()
    const known = listings.get(hidden)
    if (known && now < known.until) return known.paths
    const bounds = { hidden, mostEntries: MOST_ENTRIES, until: now + MOST_MS, now: options.now }
    const paths = listFiles(options.cwd, bounds, neverAborted())
    listings.set(hidden, { until: now + LISTING_CACHE_MS, paths })
    return paths
  }
  return async (query, signal) => {
    if (ELSEWHERE.test(query)) return await listElsewhere(query, options)
    const paths = await list(/(?:^|\/)\./.test(query))
    signal.throwIfAborted()
    return rankPaths(paths, query).slice(0, MOST_FOUND)
  }
}

/** The paths that fit, best first: by name, by the beginning of a name, by a part of the path, by its letters in order. */
function rankPaths(paths: readonly string[], query: string): string[] {
  const wanted = query.toLowerCase()
  return paths
    .map((path) => ({ path, rank: scorePath(path, wanted), depth: countSegments(path) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted(
      (a, b) =>
        a.rank - b.rank || a.depth - b.depth || a.path.length - b.path.length || byText(a.path, b.path),
    )
    .map(({ path }) => path)
}

const ELSEWHERE = /^(?:~?\/|\.{1,2}\/)/

/** Entries of a folder by its path, as the query has it. */
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
    .slice(0, MOST_FOUND)
}

function scorePath(path: string, wanted: string): number {
  const lower = path.toLowerCase()
  const name = baseName(lower)
  if (wanted === '') return 0
  if (name === wanted || lower === wanted) return 0
  if (name.startsWith(wanted)) return 1
  if (lower.startsWith(wanted)) return 2
  if (name.includes(wanted)) return 3
  if (lower.includes(wanted)) return 4
  return hasInOrder(lower, wanted) ? 5 : Number.POSITIVE_INFINITY
}

function baseName(path: string): string {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path
  return whole.slice(whole.lastIndexOf('/') + 1)
}

function hasInOrder(path: string, wanted: string): boolean {
  let at = 0
  for (const char of wanted) {
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

/** Several wait for one listing, which is short: none of them ends it. */
function neverAborted(): AbortSignal {
  return new AbortController().signal
}
