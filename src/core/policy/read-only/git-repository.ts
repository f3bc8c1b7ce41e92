import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../paths.ts'

/**
 * Whether git starts no program of a repository's choice when it reads from a folder: its history, or with `worktree`
 * its files as well.
 *
 * The repository lies in the workspace. Its configuration has only keys that are known to be harmless (in the
 * environment of hardenedEnv()); it has no sub-modules, which have configurations of their own.
 */
export async function isHarmlessRepository(
  folder: string,
  { workspace, needs }: { workspace: string; needs: 'history' | 'worktree' },
): Promise<boolean> {
  try {
    const place = await findRepository(folder, workspace)
    if (place === undefined) return false
    const { gitDir, commonDir } = place
    if (!isHarmlessConfig(await readFile(join(commonDir, 'config'), 'utf8'))) return false
    return needs === 'history' || !(await hasSubmodules(join(gitDir, 'index')))
  } catch {
    return false // git says what is wrong with it
  }
}

interface RepositoryPlace {
  gitDir: string
  commonDir: string
}

/** Looks for a repository as git does. Undefined for a bare one, which any folder of a project can be. */
async function findRepository(folder: string, workspace: string): Promise<RepositoryPlace | undefined> {
  for (let at = folder; isInside(workspace, at); at = dirname(at)) {
    const git = join(at, '.git')
    const stats = await lstat(git).catch(() => undefined)
    if (stats)
      return await openPlace(stats.isFile() ? await followGitFile(git) : { gitDir: git, commonDir: git })
    if (await stat(join(at, 'HEAD')).catch(() => undefined)) return undefined
    if (at === dirname(at)) return undefined
  }
  return undefined
}

/** Undefined where git would go on to look in the folder above. */
async function openPlace(place: RepositoryPlace | undefined): Promise<RepositoryPlace | undefined> {
  if (place === undefined) return undefined
  const head = join(place.gitDir, 'HEAD')
  const [stats, text, ...folders] = await Promise.all([
    lstat(head),
    readFile(head, 'utf8'),
    stat(join(place.commonDir, 'objects')),
    stat(join(place.commonDir, 'refs')),
  ])
  const isHead = stats.isFile() && /^(ref: *refs\/|[0-9a-f]{40}\s)/.test(text)
  return isHead && folders.every((folder) => folder.isDirectory()) ? place : undefined
}

/** The repository of a work tree, which names that work tree in turn. */
async function followGitFile(file: string): Promise<RepositoryPlace | undefined> {
  const [, target = ''] = /^gitdir: (.+)$/m.exec(await readFile(file, 'utf8')) ?? []
  const gitDir = resolve(dirname(file), target)
  const [back, common] = await Promise.all(
    ['gitdir', 'commondir'].map(async (name) => (await readFile(join(gitDir, name), 'utf8')).trim()),
  )
  if ((await realpath(resolve(gitDir, back!))) !== (await realpath(file))) return undefined
  return { gitDir, commonDir: resolve(gitDir, common!) }
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
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return false
  if (stats.size > MAX_INDEX_BYTES) return true
  const bytes = await readFile(path)
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

/** Sections that say nothing about what reading commands start. Programs of `alias` and `credential` are not used by them. */
const SECTIONS: ReadonlySet<string> = new Set(
  'branch user pull push init fetch merge rebase color advice gui lfs rerere tag commit maintenance gc pack i18n column credential http url alias submodule receive'.split(
    ' ',
  ),
)

/** `core.fsmonitor` and `core.hookspath` are overridden by hardenedEnv(). */
const KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath longpaths protectntfs protecthfs compression trustctime untrackedcache fsmonitor hookspath excludesfile sharedrepository preloadindex commentchar editor whitespace',
    remote: 'url pushurl fetch push tagopt prune gh-resolved pushdefault',
    diff: 'algorithm renames renamelimit colormoved mnemonicprefix noprefix context interhunkcontext wserrorhighlight',
    log: 'abbrevcommit date decorate follow mailmap showroot',
    status: 'short branch showuntrackedfiles relativepaths',
  }).map(([section, keys]) => [section, new Set(keys.split(' '))]),
)
