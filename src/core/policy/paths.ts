import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { getErrorCode, isMissing } from '../base/system-error.ts'

/** Returns a working directory with all links resolved. Throws `missing` when it is not a directory. */
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
 * Resolves a path from a tool call to an absolute path, with links resolved as far as the path exists.
 *
 * It resolves like the kernel: `..` after a link leaves the folder that the link points to, and a dangling
 * link resolves to where the file would be created. `~/` is the user's home directory. Open the returned
 * path, never the original one, since links may change. On file systems that ignore case, existing parts get
 * their actual spelling and the rest keeps the given one. Throws `invalid` for an impossible path.
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
    // join() would remove `link/..` before the kernel sees it.
    return await realpath(`${start}${sep}${rest}`)
  } catch (reason) {
    if (!isMissing(reason)) throw cannotUse(path, describeReason(reason))
  }
  try {
    return await walk(await realpath(start), splitPath(rest))
  } catch (reason) {
    throw reason instanceof CrabError ? reason : cannotUse(path, describeReason(reason))
  }
}

/** Whether a path is a folder or is below it. Both are absolute and without links. */
export function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path)
  return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
}

/** The working directory and the added directories; all absolute, links resolved. */
export interface Workspace {
  workspace: string
  roots?: readonly string[]
}

/** Whether a path is in the working directory or an added directory. */
export function isInWorkspace({ workspace, roots = [] }: Workspace, path: string): boolean {
  return isInside(workspace, path) || roots.some((root) => isInside(root, path))
}

/** Returns the folders that are not inside another one, each once. */
export function keepOutermost(folders: readonly string[]): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isInside(other, folder)))
}

/** Follows a path that does not fully exist, segment by segment. `from` exists and has no links. */
async function walk(from: string, segments: readonly string[]): Promise<string> {
  const pending = segments.toReversed()
  let here = from
  let links = 0
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
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
    if (++links > MAX_LINKS) throw cannotUse(next, 'its links form a loop')
    if (isAbsolute(target)) here = parse(target).root
    pending.push(...splitPath(target.slice(isAbsolute(target) ? here.length : 0)).reverse())
  }
  return await withRealCase(here)
}

/** Returns the target of a link; undefined when the path is not a link or does not exist. */
async function linkAt(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch (reason) {
    if (isMissing(reason)) return undefined
    throw reason
  }
}

/** Returns a path with its existing part spelled as in the file system. */
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
  ENOENT: 'the directory does not exist',
  ENOTDIR: 'a part of it is a file',
  ELOOP: 'its links form a loop',
  EACCES: 'permission denied',
  ENAMETOOLONG: 'it is too long',
}

/** The limit of Linux. */
const MAX_LINKS = 40
