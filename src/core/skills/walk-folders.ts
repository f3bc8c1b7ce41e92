import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What was found below a folder. */
export interface Walked<T> {
  found: T[]
  /** There are more folders than were looked at. */
  isCut: boolean
}

/**
 * Shows `read` the folders below a root, those of one level after those above it, each level by path, and gives what it
 * makes of them; only inside one of which it makes nothing does the walk go on.
 *
 * Hidden folders and node_modules are skipped, links are followed, a folder that was seen before is not entered again. It
 * ends below five levels, and after `most` folders. Fails as `readdir` for the root; what else cannot be entered is empty.
 */
export async function walkFolders<T>(
  root: string,
  read: (folder: string) => Promise<T | undefined>,
  most: number,
): Promise<Walked<T>> {
  const walked: Walked<T> = { found: [], isCut: false }
  const entered = new Set<string>()
  let level = await foldersIn(root)
  await unseen([root], entered)
  let left = most
  for (let depth = 1; level.length > 0; depth++) {
    walked.isCut = level.length > left
    const looked = level.slice(0, left)
    const made = await inBatches(looked, read)
    walked.found.push(...made.flatMap((one) => one ?? []))
    left -= looked.length
    if (walked.isCut || depth === MAX_DEPTH) break
    const others = looked.filter((_, at) => made[at] === undefined)
    const inner = await inBatches(await unseen(others, entered), (folder) =>
      foldersIn(folder).catch(() => []),
    )
    level = inner.flat()
  }
  return walked
}

/** How many are read at a time: each has a file open. */
const BATCH = 64
const MAX_DEPTH = 5

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter(mayBeFolder)
    .map(({ name }) => join(folder, name))
    .toSorted()
}

function mayBeFolder(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false
  return entry.isDirectory() || entry.isSymbolicLink()
}

/** Those that were not entered by another path: links may lead back. */
async function unseen(folders: readonly string[], entered: Set<string>): Promise<string[]> {
  const places = await inBatches(folders, placeOf)
  return folders.filter((_, at) => {
    const place = places[at]
    if (place === undefined || entered.has(place)) return false
    entered.add(place)
    return true
  })
}

/** What a folder is, whatever leads to it; undefined for what is none, or cannot be seen. */
async function placeOf(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined) // there is nothing in it for us
  return stats?.isDirectory() ? `${stats.dev} ${stats.ino}` : undefined
}

async function inBatches<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < all.length; at += BATCH) {
    done.push(...(await Promise.all(all.slice(at, at + BATCH).map(run))))
  }
  return done
}
