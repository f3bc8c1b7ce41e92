import type { BigIntStats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile } from '../../base/files.ts'
import { isInside } from '../../policy/paths.ts'
import { type Folder, type FolderAccess, openFolder } from '../folder.ts'
import { toPrintablePath } from '../printable-path.ts'
import { openProtectedPaths } from '../protected-paths.ts'
import type { FileSearchScope } from './engine.ts'
import { toPathFilter } from './path-filter.ts'

/** What one call searches, held until it is disposed. */
export interface SearchTarget extends AsyncDisposable {
  scope: FileSearchScope
  /** Whether the answer may name a file, by its path below the root. */
  admits(path: string): boolean
  /** When a file was changed last, in milliseconds since 1970; undefined when it is gone, is reached by a link, or is closed by another name. */
  changedAt(path: string): Promise<number | undefined>
  /** Throws `conflict` when what was searched is not at its path any more. */
  verify(): Promise<void>
  /** The path as the model may use it: below its working directory, else absolute. */
  show(path: string): string
}

export interface SearchTargetOptions extends Pick<FolderAccess, 'fdLinks'> {
  /** What was permitted. */
  path: string
  /** As the model wrote it. */
  shown: string
  glob: string | undefined
  cwd: string
  closed: readonly string[]
  mayShow(path: string): boolean
}

/**
 * Throws `missing` when nothing is there, `denied` for what no tool opens, `conflict` when the path leads elsewhere than
 * when it was judged, `invalid` for a bad glob.
 */
export async function openSearchTarget(options: SearchTargetOptions): Promise<SearchTarget> {
  const { path: root, shown, glob, cwd, closed, mayShow } = options
  const closedPlaces = await openProtectedPaths(closed)
  if (closedPlaces.holds(root))
    throw new CrabError('denied', `Cannot search ${shown}: crabtalk keeps its own files there`)
  await using stack = new AsyncDisposableStack()
  const { folder, isFile } = await openSearchRoot(options)
  stack.use(folder)
  const filter = glob === undefined || isFile ? undefined : toPathFilter(glob, root)
  const parent = isFile ? dirname(root) : root
  const absolute = (path: string) => join(parent, path)
  const look = statBelow(folder, parent)
  const owned = stack.move()
  return {
    scope: { root, isFile, folder: folder.at(''), closed: closedPlaces.paths, glob: filter },
    admits(path) {
      const file = absolute(path)
      const isWanted = isFile ? file === root : (filter?.matches(path) ?? true)
      return isWanted && !closedPlaces.holds(file) && mayShow(file)
    },
    async changedAt(path) {
      const stats = await look(path)
      return stats && !(await closedPlaces.hasNameIn(stats)) ? Number(stats.mtimeMs) : undefined
    },
    async verify() {
      await folder.verify()
      if ((await realpath(folder.at('')).catch(() => '')) !== parent) throw movedError(shown)
    },
    show: (path) => toPrintablePath(fromCwd(absolute(path), cwd)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Looks at what is below a held folder; undefined when that is a link, or a folder on the way is one by now. */
function statBelow(folder: Folder, root: string): (path: string) => Promise<BigIntStats | undefined> {
  const underway = new Map<string, Promise<string>>() // what looks at the same time shares the way
  const resolveParent = (parent: string) => {
    const known = underway.get(parent)
    if (known) return known
    const real = realpath(folder.at(parent)).finally(() => underway.delete(parent))
    underway.set(parent, real)
    return real
  }
  return async (path) => {
    try {
      const parent = dirname(path)
      const [stats, real] = await Promise.all([
        lstat(folder.at(path), { bigint: true }),
        resolveParent(parent),
      ])
      return real === join(root, parent) && !stats.isSymbolicLink() ? stats : undefined
    } catch {
      return undefined // gone meanwhile
    }
  }
}

interface SearchRoot {
  /** The root, or the folder its file is in. */
  folder: Folder
  isFile: boolean
}

/** Holds what was judged; a link in its place, or in that of a folder above, is not followed. */
async function openSearchRoot({ path, shown, fdLinks }: SearchTargetOptions): Promise<SearchRoot> {
  const moved = () => movedError(shown)
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) throw moved()
    const isFile = stats.isFile()
    if (!isFile && !stats.isDirectory())
      throw new CrabError('invalid', `Cannot search ${shown}: it is neither a file nor a folder`)
    return { folder: await openFolder(isFile ? dirname(path) : path, { fdLinks, moved }), isFile }
  } catch (cause) {
    if (cause instanceof CrabError) throw cause
    const why = isMissingFile(cause) ? 'there is no such file or folder' : (cause as Error).message
    throw new CrabError('missing', `Cannot search ${shown}: ${why}`, { cause })
  }
}

function movedError(shown: string): CrabError {
  const why = 'its path leads elsewhere than when it was permitted'
  return new CrabError('conflict', `Cannot search ${shown}: ${why}`, { hint: 'try again' })
}

function fromCwd(path: string, cwd: string): string {
  return (isInside(cwd, path) ? relative(cwd, path) : path).replaceAll(sep, '/')
}
