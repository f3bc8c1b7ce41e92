import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile, makePrivateDir, syncDir } from '../../base/files.ts'
import { newUlid, ulidTime } from '../../base/ids.ts'
import { foldStem } from './file-stems.ts'
import { KIND_FOLDERS } from './layout.ts'

/**
 * Writes a dump next to the tree, then commits it with one rename. The remaining moves are finished by
 * finishDump(), or by the next dump or load if this process is killed.
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

/**
 * Moves the files of a committed dump into place and removes the files of earlier ones; returns how many were
 * removed.
 */
export async function finishDump(folder: string): Promise<number> {
  const ready = join(folder, READY)
  await rejectLinks(folder)
  const list = await readUnlinked(join(ready, LIST))
  if (list === undefined) return 0
  const paths = (JSON.parse(list) as string[]).filter(isOwn)
  for (const path of paths) {
    await makePrivateDir(join(folder, dirname(path)))
    // unchanged files are not staged, and an interrupted run may have moved others
    await rename(join(ready, path), join(folder, path)).catch(ignoreMissing)
  }
  const removed = await removeOthers(folder, new Set(paths))
  for (const parent of new Set(paths.map((path) => dirname(path)))) await syncDir(join(folder, parent))
  await rm(ready, { recursive: true, force: true })
  return removed
}

/**
 * Opens a file of a tree for reading. Throws for a symbolic link: a tree may come from someone else, and a
 * file outside it must never become an entry.
 */
export async function openTreeFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK }: Partial<typeof constants> = constants // Windows lacks two of them
  return await open(path, O_RDONLY! | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)) // a named pipe must not block
}

/** Whether a path is a symbolic link. */
export async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(ignoreMissing))?.isSymbolicLink() ?? false
}

/**
 * Lists the Markdown files in a folder of a tree, without hidden ones. Empty when the folder does not exist.
 */
export async function markdownFiles(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(ignoreMissing)) ?? []
  const files = entries.filter((entry) => !entry.isDirectory() && isMarkdown(entry.name))
  return files.map(({ name }) => name).sort()
}

/** Whether a name is that of a Markdown file that is not hidden. */
export function isMarkdown(name: string): boolean {
  return /^[^.].*\.md$/is.test(name)
}

const READY = '.crabtalk-dump'
const LIST = 'files.json'
const PRIVATE = { mode: 0o700 }
/** The number of files written concurrently. */
const AT_ONCE = 16
/** The age after which an unfinished dump is considered abandoned. */
const ABANDONED_MS = 3_600_000

/** Whether a dump may write this path. The list of paths comes from a file, so it is not trusted. */
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
  const before = await readUnlinked(join(folder, path))
  if (before !== text) await writeSynced(join(staged, path), text)
}

/** Rejects symbolic links, behind which a dump would move, write and remove files outside the tree. */
async function rejectLinks(folder: string): Promise<void> {
  const kinds = Object.values(KIND_FOLDERS)
  for (const name of [READY, ...kinds.map((kind) => join(READY, kind))]) {
    if (await isLink(join(folder, name))) throw linkError(folder, name)
  }
  if (!(await lstat(join(folder, READY)).catch(ignoreMissing))) return
  await refuseLinkedKinds(folder)
}

/** Throws `conflict` when a folder of the tree is a symbolic link. */
export async function refuseLinkedKinds(folder: string): Promise<void> {
  for (const kind of Object.values(KIND_FOLDERS)) {
    if (await isLink(join(folder, kind))) throw linkError(folder, kind)
  }
}

function linkError(folder: string, name: string): CrabError {
  return new CrabError('conflict', `Cannot use ${folder}: ${name} in it is a symbolic link`, {
    hint: 'replace it with what it links to, or remove it',
  })
}

/** Returns the text of a file; undefined when it does not exist or is a symbolic link. */
async function readUnlinked(path: string): Promise<string | undefined> {
  if (await isLink(path)) return undefined
  const file = await openTreeFile(path).catch(ignoreMissing)
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
      const isSame = own !== undefined && !names.includes(own) // on a case-insensitive file system
      if (isSame) await rename(join(folder, kind, name), join(folder, kind, own))
      else await rm(join(folder, kind, name), { force: true })
      if (!isSame) removed++
    }
  }
  return removed
}

/** Removes dumps that were killed before they were complete. */
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

/** Turns a missing file into undefined; rethrows any other failure. */
function ignoreMissing(reason: unknown): undefined {
  if (!isMissingFile(reason)) throw reason
  return undefined
}
