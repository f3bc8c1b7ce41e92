import { lstat, realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { isMissing } from '../../base/system-error.ts'
import { isInWorkspace, type Workspace } from '../paths.ts'
import { Doubt, showText } from './doubt.ts'
import { checkConfig } from './git-config.ts'
import { findOddFile, readPlain, readPlainText } from './plain-files.ts'

/**
 * Throws a Doubt unless git, reading from a folder, starts no program that the repository chooses and reads
 * nothing outside of it. `history` covers its history; `worktree` also covers its files. Returns the top
 * folder of the repository.
 *
 * The repository must contain all that it shares, and only regular files, since git may print what it reports
 * about a link's target. Its configuration may have only keys that are known to be harmless (in the
 * environment of hardenedEnv()). It may not have submodules, which have their own configurations. Its top may
 * be above the working directory.
 */
export async function checkRepository(
  folder: string,
  { workspace, needs }: { workspace: Workspace; needs: 'history' | 'worktree' },
): Promise<string> {
  const paths = await findRepository(folder, workspace).catch(throwIncomplete)
  const { top, gitDir, commonDir } = paths
  if (dirname(top).includes(delimiter))
    throw new Doubt(
      `the folder above the repository has a "${delimiter}" in its path, which git reads as two folders`,
    )
  const displayPath = (path: string) => showText(relative(workspace.workspace, path))
  const config = join(commonDir, 'config')
  checkConfig(await readPlainText(config).catch(throwIncomplete), displayPath(config))
  if (needs === 'worktree') await checkIndexFile(join(gitDir, 'index'))
  if (await isThere(join(commonDir, 'objects/info/alternates')))
    throw new Doubt('the repository has objects in another folder (objects/info/alternates)')
  for (const dir of new Set([commonDir, gitDir])) {
    const oddFile = await findOddFile(dir, { most: MAX_FILES, unread: UNREAD })
    if (oddFile !== undefined)
      throw new Doubt(oddFile === '' ? TOO_MANY : `${displayPath(join(dir, oddFile))} is not a regular file`)
  }
  return top
}

/** The folders of a repository, with links resolved. */
interface RepositoryPaths {
  /** The folder that contains `.git`. */
  top: string
  gitDir: string
  commonDir: string
}

/** Finds a repository like git does. Refuses a bare one, because any folder of a project could be one. */
async function findRepository(folder: string, workspace: Workspace): Promise<RepositoryPaths> {
  for (let top = folder; ; top = dirname(top)) {
    const git = join(top, '.git')
    const bounds = isInWorkspace(workspace, top) ? workspace : { workspace: top }
    if (await isThere(git)) return { top, ...(await openGitDir(git, bounds)) }
    if (await isThere(join(top, 'HEAD'))) throw new Doubt(`${showText(top)} may be a bare repository`)
    if (top === dirname(top)) throw new Doubt('there is no git repository')
  }
}

/**
 * Opens a `.git`. Refuses a repository that git would skip in favor of one in a parent folder, and one
 * outside of `bounds`.
 */
async function openGitDir(git: string, bounds: Workspace): Promise<Omit<RepositoryPaths, 'top'>> {
  const isFolder = (await stat(git)).isDirectory()
  const gitDir = await realpath(isFolder ? git : await followGitFile(git))
  const common = join(gitDir, 'commondir') // git follows it in any repository, not only in that of a work tree
  const hasCommon = !isFolder || (await isThere(common))
  const commonDir = await realpath(hasCommon ? resolve(gitDir, await readLine(common)) : gitDir)
  const outside = [gitDir, commonDir].find((dir) => !isInWorkspace(bounds, dir))
  if (outside !== undefined) throw new Doubt(`the repository is in another folder (${showText(outside)})`)
  const [head, ...folders] = await Promise.all([
    readPlainText(join(gitDir, 'HEAD')),
    ...['objects', 'refs'].map((name) => stat(join(commonDir, name))),
  ])
  const isHead = /^(ref: *refs\/|[0-9a-f]{40}\s)/.test(head)
  if (!isHead || !folders.every((one) => one.isDirectory())) throw new Doubt(INCOMPLETE)
  return { gitDir, commonDir }
}

/** Returns the repository of a work tree. The repository must name that work tree in turn. */
async function followGitFile(file: string): Promise<string> {
  const [, target = ''] = /^gitdir: (.+)$/.exec(await readLine(file)) ?? []
  const gitDir = resolve(dirname(file), target)
  const back = resolve(gitDir, await readLine(join(gitDir, 'gitdir')))
  if ((await realpath(back)) !== (await realpath(file)))
    throw new Doubt('.git names the repository of another folder')
  return gitDir
}

/** Reads a file with a single line. Refuses several lines, which git reads as one name. */
async function readLine(path: string): Promise<string> {
  const line = (await readPlainText(path)).replace(/[\r\n]+$/, '')
  if (line === '' || /[\r\n]/.test(line)) throw new Doubt(`${showText(path)} is not one line`)
  return line
}

/** Checks the index. A repository without one has no submodules and no files to compare. */
async function checkIndexFile(path: string): Promise<void> {
  if (await isThere(path)) checkIndex(await readPlain(path, MAX_INDEX_BYTES))
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)) !== undefined
  } catch (reason) {
    if (isMissing(reason)) return false
    throw reason
  }
}

/** Throws a Doubt instead of an error about a file that every repository has. */
function throwIncomplete(reason: unknown): never {
  throw isMissing(reason) ? new Doubt(INCOMPLETE) : reason
}

const INCOMPLETE = '.git is not a complete repository'

/** The largest index that is checked before a command. */
const MAX_INDEX_BYTES = 32 * 1024 * 1024
/**
 * Folders of a repository that reading commands do not open: hooks are disabled, and submodules need
 * confirmation.
 */
const UNREAD: ReadonlySet<string> = new Set(['hooks', 'lfs', 'modules'])
/**
 * The maximum number of files checked before a command, enough for a repository that has not been packed for
 * a long time.
 */
const MAX_FILES = 20_000
const TOO_MANY = `.git has more than ${MAX_FILES} files`

/**
 * Throws a Doubt for an index that makes git read outside of its own repository: one with submodules, with
 * names that lead out of the work tree (git opens them as they are), or with entries in another file. Also
 * throws for an index that is not understood.
 */
function checkIndex(bytes: Buffer): void {
  const version = bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC' ? 0 : bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw new Doubt('.git/index has a version other than 2 or 3')
  let at = 12
  let isOutside = false
  for (let remaining = bytes.readUInt32BE(8); remaining > 0; remaining--) {
    if (at + ENTRY_BYTES > bytes.length) throw broken()
    if (bytes.readUInt32BE(at + MODE_AT) >>> 12 === GITLINK) throw new Doubt('the repository has sub-modules')
    const flags = bytes.readUInt16BE(at + FLAGS_AT)
    const begin = at + ENTRY_BYTES + ((flags & EXTENDED) === 0 ? 0 : 2)
    const end = bytes.indexOf(0, begin)
    // Git takes the length of the name from the flags.
    if (end < 0 || Math.min(end - begin, NAME_MASK) !== (flags & NAME_MASK)) throw broken()
    isOutside ||= leadsOut(bytes.toString('latin1', begin, end))
    at += (Math.floor((end - at) / 8) + 1) * 8
  }
  if (isSplit(bytes, at)) throw new Doubt('.git/index is split, and its other part is not checked')
  if (isOutside) throw new Doubt('.git/index names a file outside of the repository')
}

function broken(): Doubt {
  return new Doubt('.git/index is damaged')
}

/** Whether a name has a part that git itself never stores, on any system. */
function leadsOut(name: string): boolean {
  return name === '' || /(^|[\\/])\.{0,2}([\\/]|$)/.test(name) || /^[A-Za-z]:[\\/]/.test(name)
}

function isSplit(bytes: Buffer, extensions: number): boolean {
  let at = extensions
  while (at + 8 <= bytes.length - HASH_BYTES) {
    if (bytes.toString('latin1', at, at + 4) === 'link') return true
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return false
}

/**
 * Sizes and offsets of git's index format, versions 2 and 3 (gitformat-index): the bytes of an entry before
 * its name, and offsets in it.
 */
const ENTRY_BYTES = 62
const MODE_AT = 24
const FLAGS_AT = 60
const EXTENDED = 0x4000
const NAME_MASK = 0xfff
const GITLINK = 0o16
const HASH_BYTES = 20
