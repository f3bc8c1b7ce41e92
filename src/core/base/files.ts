import { mkdirSync, statSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import { CrabError } from './errors.ts'
import { newUlid, ulidTime } from './ids.ts'
import { getErrorCode } from './system-error.ts'

/** Modes of everything under the home directory (disk.md). */
const PRIVATE_FILE = 0o600
const PRIVATE_DIR = 0o700

/**
 * Replaces a file so that a reader, or a crash, sees the old content or the new one, never a mixture.
 *
 * Sibling, sync, rename, directory sync. Missing folders are made with mode 0700. Fails with `storage`.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode = PRIVATE_FILE,
): Promise<void> {
  const sibling = newSiblingPath(path)
  try {
    await makePrivateDir(dirname(path))
    await writeSynced(sibling, content, mode)
    await rename(sibling, path)
    await syncDir(dirname(path))
  } catch (reason) {
    await rm(sibling, { force: true }).catch(() => undefined) // the first failure is the one to report
    throw toStorageError(`Cannot write ${path}`, reason)
  }
}

/**
 * Creates a file whole or not at all; false, and nothing changed, when the name is taken.
 *
 * Of several processes that create one name at once exactly one gets true, and the others find its whole content; on a
 * file system without hard links they may find a part of it for a moment. Missing folders are made with mode 0700.
 * Fails with `storage`.
 */
export async function createFile(
  path: string,
  content: string | Uint8Array,
  { linkFile = link }: { linkFile?: (existing: string, path: string) => Promise<void> } = {},
): Promise<boolean> {
  const sibling = newSiblingPath(path)
  try {
    await makePrivateDir(dirname(path))
    await writeSynced(sibling, content, PRIVATE_FILE)
    await linkFile(sibling, path).catch((reason: unknown) => {
      if (!WITHOUT_LINKS.has(getErrorCode(reason))) throw reason
      return createInPlace(path, content)
    })
    await rm(sibling)
    await syncDir(dirname(path))
    return true
  } catch (reason) {
    await rm(sibling, { force: true }).catch(() => undefined) // the first failure is the one to report
    if (getErrorCode(reason) === 'EEXIST') return false
    throw toStorageError(`Cannot write ${path}`, reason)
  }
}

/** Makes a folder and its missing parents, mode 0700 and durable. Fails with `storage`. */
export async function makePrivateDir(path: string): Promise<void> {
  for (const made of makePrivateDirSync(path)) await syncDir(dirname(made))
}

/** As makePrivateDir(), but not durable; gives the folders it made, outermost first. */
export function makePrivateDirSync(path: string): string[] {
  try {
    return makeDirs(path)
  } catch (reason) {
    throw toStorageError(`Cannot make ${path}`, reason)
  }
}

/** Makes the names in a folder durable; a file system that cannot sync a folder (Windows) needs none. */
export async function syncDir(path: string): Promise<void> {
  if (platform() === 'win32') return
  await using dir = await open(path, 'r')
  await dir.sync()
}

/** A failed system call as a `storage` error that says what to do; a CrabError passes through. */
export function toStorageError(what: string, reason: unknown): CrabError {
  if (reason instanceof CrabError) return reason
  const known = REASONS[getErrorCode(reason)]
  const why = known?.why ?? (reason instanceof Error ? reason.message : String(reason))
  return new CrabError(
    'storage',
    `${what}: ${why}`,
    known ? { cause: reason, hint: known.hint } : { cause: reason },
  )
}

/** Whether a failed system call says that the file does not exist. */
export function isMissingFile(reason: unknown): boolean {
  return getErrorCode(reason) === 'ENOENT'
}

/** Node's `recursive` never returns where a folder is there and yet refuses with ENOENT, as all do below /proc. */
function makeDirs(path: string): string[] {
  if (isDirectory(path)) return []
  const made = dirname(path) === path ? [] : makeDirs(dirname(path))
  try {
    mkdirSync(path, { mode: PRIVATE_DIR })
    return [...made, path]
  } catch (reason) {
    if (!isDirectory(path)) throw reason
    return made // somebody was faster
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * Returns whether a file name is that of a temporary file which `replaceFile()` or `createFile()` made before `before`,
 * milliseconds since 1970. A write takes milliseconds, so an old one was left by a process that was killed.
 */
export function isLeftover(name: string, before: number): boolean {
  const [, id] = SIBLING.exec(name) ?? []
  return id !== undefined && Date.parse(ulidTime(id)) < before
}

/** A name in the same folder that nobody else uses. */
function newSiblingPath(path: string): string {
  return `${path}.${newUlid()}.tmp`
}

const SIBLING = /\.([0-9A-HJKMNP-TV-Z]{26})\.tmp$/

async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await using file = await open(path, 'wx', mode)
  await file.writeFile(content)
  await file.sync()
}

/** For file systems without hard links: the name is taken first, and given back when the content does not fit. */
async function createInPlace(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await open(path, 'wx', PRIVATE_FILE)
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (reason) {
    await rm(path, { force: true }).catch(() => undefined) // the first failure is the one to report
    throw reason
  }
}

/** How file systems without hard links refuse one: exFAT on Linux and on Windows, network mounts, FUSE. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const ELSEWHERE = 'or set CRABTALK_HOME to another directory'
const REASONS: Record<string, { why: string; hint: string }> = {
  ENOSPC: { why: 'the disk is full', hint: `free some space, ${ELSEWHERE}` },
  EDQUOT: { why: 'the disk quota is used up', hint: `free some space, ${ELSEWHERE}` },
  EROFS: { why: 'the file system is read-only', hint: `make it writable, ${ELSEWHERE}` },
  EACCES: { why: 'permission denied', hint: `check its owner and mode, ${ELSEWHERE}` },
  EPERM: { why: 'operation not permitted', hint: `check its owner and mode, ${ELSEWHERE}` },
  EEXIST: { why: 'a file of that name is in the way', hint: `move that file away, ${ELSEWHERE}` },
  ENOTDIR: { why: 'a part of the path is a file', hint: `move that file away, ${ELSEWHERE}` },
}
