import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { getErrorCode, isMissing } from '../base/system-error.ts'

/** A working directory with every link resolved. Throws `missing` when there is no such directory. */
export async function openWorkspace(cwd: string): Promise<string> {
  const what = `Cannot work in ${cwd}`
  try {
    const real = await realpath(cwd)
    if ((await stat(real)).isDirectory()) return real
  } catch (reason) {
    throw new CrabError('missing', `${what}: ${describeReason(reason)}`, { cause: reason })
  }
  throw new CrabError('missing', `${what}: it is not a directory`)
}

/**
 * The file that a tool means by a path: absolute, with every link resolved as far as anything is there.
 *
 * As the kernel does it: `..` after a link leaves the folder the link leads to, and a link to nothing leads to where the
 * file would be made. `~/` is the person's directory. Open what this gives, never the path itself: links change. Where
 * upper and lower case are the same, what is there has the case it was made with; on such a disk the rest has the case
 * it was asked for. Throws `invalid` for a path that no file can have.
 */
export async function resolvePath(
  path: string,
  { workspace, homeDir }: { workspace: string; homeDir: string },
): Promise<string> {
  if (path === '') throw cannotUse(path, 'it is empty')
  if (path.includes('\0')) throw cannotUse(path, 'it has a NUL character')
  const isHome = path === '~' || path.startsWith('~/') || path.startsWith(`~${sep}`)
  if (isHome && homeDir === '') throw cannotUse(path, 'this user has no directory for ~')
  const start = isHome ? homeDir : isAbsolute(path) ? parse(path).root : workspace
  const rest = isHome ? path.slice(1) : path.slice(isAbsolute(path) ? start.length : 0)
  try {
    return await realpath(`${start}${sep}${rest}`) // not join(): it takes `link/..` away before the kernel sees it
  } catch (reason) {
    if (!isMissing(reason)) throw cannotUse(path, describeReason(reason))
  }
  try {
    return await walk(await realpath(start), splitPath(rest))
  } catch (reason) {
    throw reason instanceof CrabError ? reason : cannotUse(path, describeReason(reason))
  }
}

/** Whether a path is a folder or lies below it; both absolute, without links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Follows a path that leads to nothing, one segment after the other. `from` is there and has no links. */
async function walk(from: string, segments: readonly string[]): Promise<string> {
  const waiting = segments.toReversed()
  let here = from
  let links = 0
  for (let segment = waiting.pop(); segment !== undefined; segment = waiting.pop()) {
    if (segment === '..') {
      here = dirname(here)
      continue
    }
    const next = join(here, segment)
    const target = await linkAt(next)
    if (target === undefined) {
      here = next
      continue
    }
    if (++links > MAX_LINKS) throw cannotUse(next, 'its links lead in a circle')
    if (isAbsolute(target)) here = parse(target).root
    waiting.push(...splitPath(target.slice(isAbsolute(target) ? here.length : 0)).reverse())
  }
  return await withRealCase(here)
}

/** What a link says; undefined for anything that is no link, or is not there. */
async function linkAt(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch (reason) {
    if (isMissing(reason)) return undefined
    throw reason
  }
}

/** The part of a path that is there as the file system spells it, the rest as it is. */
async function withRealCase(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (reason) {
    const parent = dirname(path)
    if (!isMissing(reason) || parent === path) return path
    return join(await withRealCase(parent), relative(parent, path))
  }
}

function splitPath(path: string): string[] {
  return path.split(sep === '/' ? '/' : /[\\/]/).filter((segment) => segment !== '' && segment !== '.')
}

function cannotUse(path: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot use the path ${JSON.stringify(path)}: ${why}`)
}

function describeReason(reason: unknown): string {
  return MESSAGES[getErrorCode(reason)] ?? (reason instanceof Error ? reason.message : String(reason))
}

const MESSAGES: Record<string, string> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'a part of it is a file',
  ELOOP: 'its links lead in a circle',
  EACCES: 'permission denied',
  ENAMETOOLONG: 'it is too long',
}

/** The limit of Linux. */
const MAX_LINKS = 40
