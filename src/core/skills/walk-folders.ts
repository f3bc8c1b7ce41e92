import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** The results of a walk. */
export interface WalkResult<T> {
  found: T[]
  /** Whether there are more folders than were visited. */
  isCut: boolean
}

/**
 * Calls `read` with the folders below a root, level by level and sorted by path within a level, and collects
 * its results. The walk descends only into folders for which `read` returns undefined.
 *
 * Hidden folders and node_modules are skipped; links are followed; a folder is entered once only. The walk
 * ends below five levels and after `maxFolders` folders. Rejects like `readdir` for the root; other folders that
 * cannot be read count as empty.
 */
export async function walkFolders<T>(
  root: string,
  read: (folder: string) => Promise<T | undefined>,
  maxFolders: number,
): Promise<WalkResult<T>> {
  const result: WalkResult<T> = { found: [], isCut: false }
  const top = { path: root, real: await realpath(root) }
  const entered = new Set([top.real])
  let level = await foldersIn(top)
  let remaining = maxFolders
  for (let depth = 1; level.length > 0; depth++) {
    result.isCut = level.length > remaining
    const visited = level.slice(0, remaining)
    remaining -= visited.length
    const results = await inBatches(visited, ({ path }) => read(path))
    result.found.push(...results.flatMap((one) => one ?? []))
    if (result.isCut || depth === MAX_DEPTH) break
    const others = visited.filter((folder, at) => results[at] === undefined && isNew(folder, entered))
    level = (await inBatches(others, (folder) => foldersIn(folder).catch(() => []))).flat()
  }
  return result
}

/** The number of folders read concurrently; each has a file open. */
const BATCH = 64
const MAX_DEPTH = 5

interface Folder {
  path: string
  /** The path with links resolved. */
  real: string
}

async function foldersIn({ path, real }: Folder): Promise<Folder[]> {
  const entries = await readdir(path, { withFileTypes: true })
  const folders = entries.filter(mayBeFolder).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const resolved = folders.map(async (entry) => {
    const folder = { path: join(path, entry.name), real: join(real, entry.name) }
    if (!entry.isSymbolicLink()) return folder
    return { ...folder, real: await realpath(folder.path).catch(() => folder.real) } // a dangling link
  })
  return await Promise.all(resolved)
}

function mayBeFolder(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false
  return entry.isDirectory() || entry.isSymbolicLink()
}

/** Whether a folder was not entered by another path, since links may lead back. */
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
