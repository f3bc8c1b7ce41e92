import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../../base/system-error.ts'
import { isInside } from '../paths.ts'
import { holdsPlainFiles, readPlain, readPlainText } from './plain-files.ts'

/**
 * Whether git starts no program of a repository's choice when it reads from a folder: its history, or with `worktree`
 * its files as well.
 *
 * The repository lies in the workspace, with all that it shares, and holds only regular files: what git reports of a
 * link's target, it may print. Its configuration has only keys that are known to be harmless (in the environment of
 * hardenedEnv()); it has no sub-modules, which have configurations of their own.
 */
export async function isHarmlessRepository(
  folder: string,
  { workspace, needs }: { workspace: string; needs: 'history' | 'worktree' },
): Promise<boolean> {
  try {
    const place = await findRepository(folder, workspace)
    if (place === undefined) return false
    const { gitDir, commonDir } = place
    if (!isHarmlessConfig(await readPlainText(join(commonDir, 'config')))) return false
    if (needs === 'worktree' && (await hasSubmodules(join(gitDir, 'index')))) return false
    if (await isThere(join(commonDir, 'objects/info/alternates'))) return false
    const limits = { most: MAX_FILES, unread: UNREAD }
    return (await holdsPlainFiles(commonDir, limits)) && (await holdsPlainFiles(gitDir, limits))
  } catch {
    return false // git says what is wrong with it
  }
}

/** Links resolved. */
interface RepositoryPlace {
  gitDir: string
  commonDir: string
}

/** Looks for a repository as git does. Undefined for a bare one, which any folder of a project can be. */
async function findRepository(folder: string, workspace: string): Promise<RepositoryPlace | undefined> {
  for (let at = folder; isInside(workspace, at); at = dirname(at)) {
    const git = join(at, '.git')
    if (await isThere(git)) return await openPlace(git, workspace)
    if ((await isThere(join(at, 'HEAD'))) || at === dirname(at)) return undefined
  }
  return undefined
}

/** Undefined where git would go on to look in the folder above, and for what is outside of the workspace. */
async function openPlace(git: string, workspace: string): Promise<RepositoryPlace | undefined> {
  const isFolder = (await stat(git)).isDirectory()
  const gitDir = await realpath(isFolder ? git : await followGitFile(git))
  const common = join(gitDir, 'commondir') // git follows it in any repository, not only in that of a work tree
  const hasCommon = !isFolder || (await isThere(common))
  const commonDir = await realpath(hasCommon ? resolve(gitDir, await readLine(common)) : gitDir)
  if (!isInside(workspace, gitDir) || !isInside(workspace, commonDir)) return undefined
  const [head, ...folders] = await Promise.all([
    readPlainText(join(gitDir, 'HEAD')),
    ...['objects', 'refs'].map((name) => stat(join(commonDir, name))),
  ])
  const isHead = /^(ref: *refs\/|[0-9a-f]{40}\s)/.test(head)
  return isHead && folders.every((one) => one.isDirectory()) ? { gitDir, commonDir } : undefined
}

/** The repository of a work tree, which names that work tree in turn. */
async function followGitFile(file: string): Promise<string> {
  const [, target = ''] = /^gitdir: (.+)$/.exec(await readLine(file)) ?? []
  const gitDir = resolve(dirname(file), target)
  const back = resolve(gitDir, await readLine(join(gitDir, 'gitdir')))
  if ((await realpath(back)) !== (await realpath(file)))
    throw new TypeError(`${file} is of another work tree`)
  return gitDir
}

/** Reads a file of one line; throws for more lines, which git takes for one name. */
async function readLine(path: string): Promise<string> {
  const line = (await readPlainText(path)).replace(/[\r\n]+$/, '')
  if (line === '' || /[\r\n]/.test(line)) throw new TypeError(`${path} is not one line`)
  return line
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)) !== undefined
  } catch (reason) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(reason))) return false
    throw reason
  }
}

/** Whether every line is one that is understood, and every key one that starts nothing. */
export function isHarmlessConfig(text: string): boolean {
  let section = ''
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;].*)?$/.test(line)) continue
    const [, name] = /^\s*\[([\w.-]+)(?: "(?:[^"\\]|\\.)*")?\]\s*$/.exec(line) ?? []
    const [, key] = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?$/.exec(line) ?? []
    if (name !== undefined) section = name.toLowerCase()
    else if (key === undefined || line.endsWith('\\') || !isHarmlessKey(section, key.toLowerCase()))
      return false
  }
  return true
}

function isHarmlessKey(section: string, key: string): boolean {
  return SECTIONS.has(section) || KEYS.get(section)?.has(key) === true
}

/** Whether an index lists a sub-module, or cannot be read here. A repository without an index has none. */
async function hasSubmodules(path: string): Promise<boolean> {
  if (!(await isThere(path))) return false
  const bytes = await readPlain(path, MAX_INDEX_BYTES)
  const version = bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC' ? 0 : bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) return true
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + ENTRY_BYTES > bytes.length) return true
    if (bytes.readUInt32BE(at + MODE_AT) >>> 12 === GITLINK) return true
    const isExtended = (bytes.readUInt16BE(at + FLAGS_AT) & 0x4000) !== 0
    const end = bytes.indexOf(0, at + ENTRY_BYTES + (isExtended ? 2 : 0))
    if (end < 0) return true
    at += (Math.floor((end - at) / 8) + 1) * 8
  }
  return isSplit(bytes, at)
}

/** Whether other entries are in a file of their own. */
function isSplit(bytes: Buffer, extensions: number): boolean {
  let at = extensions
  while (at + 8 <= bytes.length - HASH_BYTES) {
    if (bytes.toString('latin1', at, at + 4) === 'link') return true
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return false
}

/** Git's index format, versions 2 and 3 (gitformat-index): bytes of an entry before its name, and offsets in it. */
const ENTRY_BYTES = 62
const MODE_AT = 24
const FLAGS_AT = 60
const GITLINK = 0o16
const HASH_BYTES = 20
/** More is not looked through before a command. */
const MAX_INDEX_BYTES = 32 * 1024 * 1024

/** Folders of a repository that reading does not look into: hooks are off, and sub-modules are asked about. */
const UNREAD: ReadonlySet<string> = new Set(['hooks', 'lfs', 'modules'])
/** A repository that was not packed for long; more are not looked through before a command. */
const MAX_FILES = 20_000

/** Sections that say nothing about what reading commands start. Programs of `alias` and `credential` are not used by them. */
const SECTIONS: ReadonlySet<string> = new Set(
  'branch user pull push init fetch merge rebase color advice gui rerere tag commit maintenance gc pack i18n column credential http url alias submodule receive'.split(
    ' ',
  ),
)

/** `core.fsmonitor` and `core.hookspath` are overridden by hardenedEnv(). */
const KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath longpaths protectntfs protecthfs compression trustctime untrackedcache fsmonitor hookspath sharedrepository preloadindex commentchar editor whitespace',
    remote: 'url pushurl fetch push tagopt prune gh-resolved pushdefault',
    diff: 'algorithm renames renamelimit colormoved mnemonicprefix noprefix context interhunkcontext wserrorhighlight',
    log: 'abbrevcommit date decorate follow mailmap showroot',
    status: 'short branch showuntrackedfiles relativepaths',
  }).map(([section, keys]) => [section, new Set(keys.split(' '))]),
)
