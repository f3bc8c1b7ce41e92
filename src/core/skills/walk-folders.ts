import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** What was found below a folder. */
export interface WalkResult<T> {
  found: T[]
  /** There are more folders than were looked at. */
  isCut: boolean
}

/**
 * Shows `read` the folders below a root, those of one level after those above it, and gives what it makes of them, each level
 * by path; only inside one of which it makes nothing does the walk go on.
 *
 * Hidden folders and node_modules are skipped, links are followed, a folder that was seen before is not entered again. It
 * ends below five levels, and after `most` folders. Fails as `readdir` for the root; what else cannot be entered is empty.
 */
export async function walkFolders<T>(
  root: string,
  read: (folder: string) => Promise<T | undefined>,
  most: number,
): Promise<WalkResult<T>> {
  const walked: WalkResult<T> = { found: [], isCut: false }
  const top = { path: root, real: await realpath(root) }
  const entered = new Set([top.real])
  let level = await foldersIn(top)
  let left = most
  for (let depth = 1; level.length > 0; depth++) {
    walked.isCut = level.length > left
    const looked = level.slice(0, left)
    left -= looked.length
    const made = await inBatches(looked, ({ path }) => read(path))
    walked.found.push(...made.flatMap((one) => one ?? []))
    if (walked.isCut || depth === MAX_DEPTH) break
    const others = looked.filter((folder, at) => made[at] === undefined && isNew(folder, entered))
    level = (await inBatches(others, (folder) => foldersIn(folder).catch(() => []))).flat()
  }
  return walked
}

/** How many are read at a time: each has a file open. */
const BATCH = 64
const MAX_DEPTH = 5

interface Folder {
  path: string
  /** Without links. */
  real: string
}

async function foldersIn({ path, real }: Folder): Promise<Folder[]> {
  const entries = await readdir(path, { withFileTypes: true })
  const folders = entries.filter(mayBeFolder).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const found = folders.map(async (entry) => {
    const place = { path: join(path, entry.name), real: join(real, entry.name) }
    if (!entry.isSymbolicLink()) return place
    return { ...place, real: await realpath(place.path).catch(() => place.real) } // it leads nowhere
  })
  return await Promise.all(found)
}

function mayBeFolder(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false
  return entry.isDirectory() || entry.isSymbolicLink()
}

/** Whether it was not entered by another path: links may lead back. */
function isNew({ real }: Folder, entered: Set<string>): boolean {
  if (entered.has(real)) return false
  entered.add(real)
  return true
}

async function inBatches<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < all.length; at += BATCH) {
    done.push(...(await Promise.all(all.slice(at, at + BATCH).map(run))))
  }
  return done
}
