import type { BigIntStats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile } from '../../base/files.ts'
import { globMatcher } from '../../base/glob.ts'
import { isInside } from '../../policy/paths.ts'
import { type Folder, type FolderAccess, openFolder } from '../folder.ts'
import { toPrintablePath } from '../printable-path.ts'
import { openProtectedPaths } from '../protected-paths.ts'
import type { FileSearchScope, PathFilter } from './engine.ts'

/** The target of one search call, kept open until it is disposed. */
export interface SearchTarget extends AsyncDisposable {
  scope: FileSearchScope
  /** Whether the answer may name a file, given its path below the root. */
  admits(path: string): boolean
  /**
   * Returns when a file was last changed, in milliseconds since 1970; undefined when it is gone, is reached
   * through a link, or is another name of a protected file.
   */
  changedAt(path: string): Promise<number | undefined>
  /** Throws `conflict` when the folder that was searched is no longer at its path. */
  verify(): Promise<void>
  /**
   * Returns the path as the model may use it: relative to its working directory if it is inside, otherwise
   * absolute.
   */
  show(path: string): string
}

/** A permitted search call, from which its target is opened. */
export interface SearchTargetOptions extends Pick<FolderAccess, 'fdLinks'> {
  /** The permitted path. */
  path: string
  /** The path as the model wrote it. */
  shown: string
  glob: string | undefined
  cwd: string
  closed: readonly string[]
  mayShow(path: string): boolean
}

/**
 * Opens the target of a permitted call. Throws `missing` when nothing is there, `denied` for a protected
 * path, `conflict` when the path leads elsewhere than when it was judged, `invalid` for a bad glob.
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

/**
 * Returns a function that stats files below an open folder; it returns undefined for a link, and for a path
 * on which a folder has become one.
 */
function statBelow(folder: Folder, root: string): (path: string) => Promise<BigIntStats | undefined> {
  const underway = new Map<string, Promise<string>>() // concurrent lookups share the resolution of their folder
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
      return undefined // deleted in the meantime
    }
  }
}

interface SearchRoot {
  /** The root, or the folder that contains the root if it is a file. */
  folder: Folder
  isFile: boolean
}

/** Opens the path that was judged; a link in its place, or in that of a parent folder, is not followed. */
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
    const why = isMissingFile(cause) ? 'it does not exist' : (cause as Error).message
    throw new CrabError('missing', `Cannot search ${shown}: ${why}`, { cause })
  }
}

function movedError(shown: string): CrabError {
  const why = 'its path points elsewhere than when it was permitted'
  return new CrabError('conflict', `Cannot search ${shown}: ${why}`, { hint: 'try again' })
}

function fromCwd(path: string, cwd: string): string {
  return (isInside(cwd, path) ? relative(cwd, path) : path).replaceAll(sep, '/')
}

/**
 * Parses a glob as the model writes it: without `/` it matches names in any folder, otherwise paths below
 * `root`; a leading `!` inverts it.
 *
 * Throws `invalid` for a malformed glob and for one that leads out of the root.
 */
export function toPathFilter(glob: string, root: string): PathFilter {
  const isNegated = glob.startsWith('!')
  const path = belowRoot(isNegated ? glob.slice(1) : glob, root)
  if (path === '' || path.split('/').includes('..'))
    throw badGlob(glob, 'it must match paths below the folder')
  const whole = path.endsWith('/') ? `${path}**` : path
  const isMatch = toMatcher(whole.replace(/^\//, ''), glob)
  const isName = !whole.includes('/')
  return {
    matches: (file) => isMatch(isName ? file.slice(file.lastIndexOf('/') + 1) : file) !== isNegated,
    nameGlob: isNegated ? undefined : toNameGlob(whole),
  }
}

/** Converts an absolute glob below the root to a relative one, because models also write those. */
function belowRoot(glob: string, root: string): string {
  const inside = glob.startsWith(`${root}/`) ? glob.slice(root.length) : glob
  return inside.replace(/^(\.\/)+/, '')
}

function toMatcher(glob: string, written: string): (path: string) => boolean {
  try {
    return globMatcher(glob)
  } catch (reason) {
    throw badGlob(written, (reason as Error).message)
  }
}

function badGlob(glob: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot use the glob ${JSON.stringify(glob)}: ${why}`)
}

/** Matches globs that every engine interprets the same way; a `?` of ripgrep matches one byte. */
const SIMPLE = /^(?:[\w.*-]|\{[\w.*-]+(?:,[\w.*-]+)+\})+$/

function toNameGlob(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1)
  return SIMPLE.test(name) && !/\*\*|\.\.|^\*$/.test(name) ? name : undefined
}
