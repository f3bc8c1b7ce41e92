import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile, makePrivateDir, syncDir } from '../../base/files.ts'
import { newUlid, ulidTime } from '../../base/ids.ts'
import { foldStem } from './file-stems.ts'
import { KIND_FOLDERS } from './layout.ts'

/**
 * A dump is written beside the tree first; once it is whole, one rename makes it count, and whatever is left to do then
 * is done by the next dump or load if this one is killed.
 */
export async function stageDump(
  folder: string,
  files: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  await removeStaleDumps(folder)
  const staged = join(folder, `${READY}.${newUlid()}.tmp`)
  try {
    for (const parent of ['', ...Object.values(KIND_FOLDERS)]) await mkdir(join(staged, parent), PRIVATE)
    for (const batch of batches([...files])) {
      signal.throwIfAborted()
      await Promise.all(batch.map(([path, text]) => writeChanged(folder, { staged, path, text })))
    }
    await writeSynced(join(staged, LIST), JSON.stringify([...files.keys()]))
    await rename(staged, join(folder, READY))
    await syncDir(folder)
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

/** Moves the files of a dump that is whole to their places, and removes those of before; how many of them. */
export async function finishDump(folder: string): Promise<number> {
  const ready = join(folder, READY)
  await refuseLinks(folder)
  const list = await readOwn(join(ready, LIST))
  if (list === undefined) return 0
  const paths = (JSON.parse(list) as string[]).filter(isOwn)
  for (const path of paths) {
    await makePrivateDir(join(folder, dirname(path)))
    await rename(join(ready, path), join(folder, path)).catch(orUndefined) // it was the same, or is there already
  }
  const removed = await removeOthers(folder, new Set(paths))
  for (const parent of new Set(paths.map((path) => dirname(path)))) await syncDir(join(folder, parent))
  await rm(ready, { recursive: true, force: true })
  return removed
}

/**
 * Opens a file of a tree to read it. Throws where a symbolic link is in its place: a tree may be somebody else's, and no
 * file outside it becomes an entry.
 */
export async function openTreeFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK }: Partial<typeof constants> = constants // two of them not on Windows
  return await open(path, O_RDONLY! | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)) // a pipe holds nobody up
}

/** Whether a symbolic link has this name. */
export async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(orUndefined))?.isSymbolicLink() ?? false
}

/** The Markdown files in a folder of a tree; hidden ones are none. Empty when there is no such folder. */
export async function markdownFiles(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(orUndefined)) ?? []
  const files = entries.filter((entry) => !entry.isDirectory() && isMarkdown(entry.name))
  return files.map(({ name }) => name).sort()
}

export function isMarkdown(name: string): boolean {
  return /^[^.].*\.md$/is.test(name)
}

const READY = '.crabtalk-dump'
const LIST = 'files.json'
const PRIVATE = { mode: 0o700 }
/** Files that are written at once. */
const AT_ONCE = 16
/** No dump takes so long. */
const ABANDONED_MS = 3_600_000

/** What a dump may write: the list comes from a file. */
function isOwn(path: unknown): path is string {
  if (typeof path !== 'string') return false
  const [folder = '', name, ...more] = path.split('/')
  if (name === undefined) return folder === 'SUMMARY.md'
  return (Object.values(KIND_FOLDERS) as string[]).includes(folder) && more.length === 0 && isMarkdown(name)
}

async function writeChanged(
  folder: string,
  { staged, path, text }: { staged: string; path: string; text: string },
): Promise<void> {
  const before = await readOwn(join(folder, path))
  if (before !== text) await writeSynced(join(staged, path), text)
}

/** Behind a link, a dump would move, write and remove files that are none of the tree. */
async function refuseLinks(folder: string): Promise<void> {
  const kinds = Object.values(KIND_FOLDERS)
  for (const name of [READY, ...kinds.map((kind) => join(READY, kind))]) {
    if (await isLink(join(folder, name))) throw linked(folder, name)
  }
  if (!(await lstat(join(folder, READY)).catch(orUndefined))) return
  await refuseLinkedKinds(folder)
}

/** Throws `conflict` for a folder of a tree that is a link. */
export async function refuseLinkedKinds(folder: string): Promise<void> {
  for (const kind of Object.values(KIND_FOLDERS)) {
    if (await isLink(join(folder, kind))) throw linked(folder, kind)
  }
}

function linked(folder: string, name: string): CrabError {
  return new CrabError('conflict', `Cannot use ${folder}: ${name} in it is a symbolic link`, {
    hint: 'put what it leads to in its place, or remove it',
  })
}

/** The text of a file; undefined when there is none, or a link. */
async function readOwn(path: string): Promise<string | undefined> {
  if (await isLink(path)) return undefined
  const file = await openTreeFile(path).catch(orUndefined)
  if (!file) return undefined
  await using opened = file
  return await opened.readFile('utf8')
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(text)
  await file.sync()
}

async function removeOthers(folder: string, paths: ReadonlySet<string>): Promise<number> {
  const folded = new Map([...paths].map((path) => [foldStem(path), path]))
  let removed = 0
  for (const kind of Object.values(KIND_FOLDERS)) {
    const names = await markdownFiles(join(folder, kind))
    for (const name of names.filter((one) => !paths.has(`${kind}/${one}`))) {
      const own = folded.get(foldStem(`${kind}/${name}`))?.slice(kind.length + 1)
      const isSame = own !== undefined && !names.includes(own) // here upper and lower case are one
      if (isSame) await rename(join(folder, kind, name), join(folder, kind, own))
      else await rm(join(folder, kind, name), { force: true })
      if (!isSame) removed++
    }
  }
  return removed
}

/** Of dumps that were killed before they were whole. */
async function removeStaleDumps(folder: string): Promise<void> {
  const now = Date.parse(ulidTime(newUlid()))
  for (const name of await readdir(folder)) {
    const [, id] = /^\.crabtalk-dump\.(\w+)\.tmp$/.exec(name) ?? []
    if (id === undefined || now - Date.parse(ulidTime(id)) < ABANDONED_MS) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
}

function* batches<T>(all: readonly T[]): Iterable<T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}

/** What is not there is undefined. */
function orUndefined(reason: unknown): undefined {
  if (!isMissingFile(reason)) throw reason
  return undefined
}
