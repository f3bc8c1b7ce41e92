import { lstat, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile } from '../../base/files.ts'
import { isInside } from '../../policy/paths.ts'
import { openClosedPlaces } from './closed-places.ts'
import type { SearchScope } from './engine.ts'
import { toPathFilter } from './path-filter.ts'

/** What one call searches. */
export interface SearchTarget {
  scope: SearchScope
  /** Whether the answer may name a file, by its path below the root. */
  admits(path: string): boolean
  /** When a file was changed last, in milliseconds since 1970; undefined when it is gone, or closed by another name. */
  changedAt(path: string): Promise<number | undefined>
  /** The path as the model may use it: below its working directory, else absolute. */
  show(path: string): string
}

export interface TargetOptions {
  /** What was permitted. */
  path: string
  /** As the model wrote it. */
  shown: string
  glob: string | undefined
  cwd: string
  closed: readonly string[]
  mayShow(path: string): boolean
}

/** Throws `missing` when nothing is there, `denied` for what no tool opens, `invalid` for a bad glob. */
export async function openTarget(options: TargetOptions): Promise<SearchTarget> {
  const { path: root, shown, glob, cwd, closed, mayShow } = options
  const isFile = await isRegularFile(root, shown)
  const closedPlaces = await openClosedPlaces(closed)
  if (closedPlaces.holds(root))
    throw new CrabError('denied', `Cannot search ${shown}: crabtalk keeps its own files there`)
  const filter = glob === undefined || isFile ? undefined : toPathFilter(glob, root)
  const absolute = (path: string) => (isFile ? root : join(root, path))
  return {
    scope: { root, isFile, closed: closedPlaces.places, glob: filter },
    admits(path) {
      const file = absolute(path)
      return (filter?.matches(path) ?? true) && !closedPlaces.holds(file) && mayShow(file)
    },
    async changedAt(path) {
      const stats = await lstat(absolute(path), { bigint: true }).catch(() => undefined)
      return stats && !(await closedPlaces.hasNameIn(stats)) ? Number(stats.mtimeMs) : undefined
    },
    show: (path) => printable(fromCwd(absolute(path), cwd)),
  }
}

async function isRegularFile(path: string, shown: string): Promise<boolean> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory() || stats.isFile()) return stats.isFile()
  } catch (cause) {
    const why = isMissingFile(cause) ? 'there is no such file or folder' : (cause as Error).message
    throw new CrabError('missing', `Cannot search ${shown}: ${why}`, { cause })
  }
  throw new CrabError('invalid', `Cannot search ${shown}: it is neither a file nor a folder`)
}

function fromCwd(path: string, cwd: string): string {
  return (isInside(cwd, path) ? relative(cwd, path) : path).replaceAll(sep, '/')
}

/** File names may hold line breaks and what a terminal obeys. */
function printable(path: string): string {
  return /[\p{Cc}\p{Cf}]/u.test(path) ? JSON.stringify(path) : path
}
