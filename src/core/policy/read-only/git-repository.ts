import { lstat, realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { isMissing } from '../../base/system-error.ts'
import { isInside } from '../paths.ts'
import { Doubt, showText } from './doubt.ts'
import { checkConfig } from './git-config.ts'
import { checkIndex } from './git-index.ts'
import { findOddFile, readPlain, readPlainText } from './plain-files.ts'

/**
 * Throws a Doubt unless git starts no program of a repository's choice, and reads nothing outside of it, when it reads from
 * a folder: its history, or with `worktree` its files as well. Returns the top folder of the repository.
 *
 * The repository holds all that it shares, and holds only regular files: what git reports of a link's target, it may
 * print. Its configuration has only keys that are known to be harmless (in the environment of hardenedEnv()); it has no
 * sub-modules, which have configurations of their own. The top may lie above the working directory `cwd`.
 */
export async function checkRepository(
  folder: string,
  { cwd, needs }: { cwd: string; needs: 'history' | 'worktree' },
): Promise<string> {
  const { top, gitDir, commonDir } = await findRepository(folder, cwd).catch(throwIncomplete)
  if (dirname(top).includes(delimiter))
    throw new Doubt(
      `the folder above the repository has a "${delimiter}" in its path, which git takes for two folders`,
    )
  const shown = (path: string) => showText(relative(cwd, path))
  const config = join(commonDir, 'config')
  checkConfig(await readPlainText(config).catch(throwIncomplete), shown(config))
  if (needs === 'worktree') await checkIndexFile(join(gitDir, 'index'))
  if (await isThere(join(commonDir, 'objects/info/alternates')))
    throw new Doubt('the repository has objects in another folder (objects/info/alternates)')
  for (const dir of new Set([commonDir, gitDir])) {
    const odd = await findOddFile(dir, { most: MAX_FILES, unread: UNREAD })
    if (odd !== undefined)
      throw new Doubt(odd === '' ? TOO_MANY : `${shown(join(dir, odd))} is not a regular file`)
  }
  return top
}

/** Links resolved. */
interface RepositoryPaths {
  /** The folder that has the `.git`. */
  top: string
  gitDir: string
  commonDir: string
}

/** Looks for a repository as git does. A bare one, which any folder of a project can be, is refused. */
async function findRepository(folder: string, cwd: string): Promise<RepositoryPaths> {
  for (let top = folder; ; top = dirname(top)) {
    const git = join(top, '.git')
    if (await isThere(git)) return { top, ...(await openGitDir(git, isInside(cwd, top) ? cwd : top)) }
    if (await isThere(join(top, 'HEAD'))) throw new Doubt(`${showText(top)} may be a bare repository`)
    if (top === dirname(top)) throw new Doubt('there is no git repository')
  }
}

/** Refuses a repository that git would pass over for one in the folder above, and one outside of `root`. */
async function openGitDir(git: string, root: string): Promise<Omit<RepositoryPaths, 'top'>> {
  const isFolder = (await stat(git)).isDirectory()
  const gitDir = await realpath(isFolder ? git : await followGitFile(git))
  const common = join(gitDir, 'commondir') // git follows it in any repository, not only in that of a work tree
  const hasCommon = !isFolder || (await isThere(common))
  const commonDir = await realpath(hasCommon ? resolve(gitDir, await readLine(common)) : gitDir)
  const outside = [gitDir, commonDir].find((dir) => !isInside(root, dir))
  if (outside !== undefined) throw new Doubt(`the repository is in another folder (${showText(outside)})`)
  const [head, ...folders] = await Promise.all([
    readPlainText(join(gitDir, 'HEAD')),
    ...['objects', 'refs'].map((name) => stat(join(commonDir, name))),
  ])
  const isHead = /^(ref: *refs\/|[0-9a-f]{40}\s)/.test(head)
  if (!isHead || !folders.every((one) => one.isDirectory())) throw new Doubt(INCOMPLETE)
  return { gitDir, commonDir }
}

/** The repository of a work tree, which names that work tree in turn. */
async function followGitFile(file: string): Promise<string> {
  const [, target = ''] = /^gitdir: (.+)$/.exec(await readLine(file)) ?? []
  const gitDir = resolve(dirname(file), target)
  const back = resolve(gitDir, await readLine(join(gitDir, 'gitdir')))
  if ((await realpath(back)) !== (await realpath(file)))
    throw new Doubt('.git names the repository of another folder')
  return gitDir
}

/** Reads a file of one line; refuses more lines, which git takes for one name. */
async function readLine(path: string): Promise<string> {
  const line = (await readPlainText(path)).replace(/[\r\n]+$/, '')
  if (line === '' || /[\r\n]/.test(line)) throw new Doubt(`${showText(path)} is not one line`)
  return line
}

/** A repository without an index has no sub-modules, and no file that is compared. */
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

/** Throws a Doubt in the place of an error about a file that every repository has. */
function throwIncomplete(reason: unknown): never {
  throw isMissing(reason) ? new Doubt(INCOMPLETE) : reason
}

const INCOMPLETE = '.git is not a complete repository'

/** More is not looked through before a command. */
const MAX_INDEX_BYTES = 32 * 1024 * 1024
/** Folders of a repository that reading does not look into: hooks are off, and sub-modules are asked about. */
const UNREAD: ReadonlySet<string> = new Set(['hooks', 'lfs', 'modules'])
/** A repository that was not packed for long; more are not looked through before a command. */
const MAX_FILES = 20_000
const TOO_MANY = `.git has more than ${MAX_FILES} files`
