import { mkdirSync, statSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import { CrabError } from './errors.ts'
import { newUlid, ulidTime } from './ids.ts'
import { getErrorCode } from './system-error.ts'

/** The mode of every file under the home directory. */
const PRIVATE_FILE = 0o600
const PRIVATE_DIR = 0o700

/**
 * Replaces a file atomically: after a crash, and for any reader, it has either the old content or the new
 * one.
 *
 * Writes a sibling, syncs it, renames it and syncs the directory. Creates missing folders with mode 0700.
 * Throws `storage`.
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
    await rm(sibling, { force: true }).catch(() => undefined) // report the first failure
    throw toStorageError(`Cannot write ${path}`, reason)
  }
}

/**
 * Creates a file completely or not at all. Returns false, and changes nothing, when the name is taken.
 *
 * When several processes create the same name concurrently, exactly one gets true and the others find the
 * complete content. On a file system without hard links they may briefly find a part of it. Creates missing
 * folders with mode 0700. Throws `storage`.
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
    await rm(sibling, { force: true }).catch(() => undefined) // report the first failure
    if (getErrorCode(reason) === 'EEXIST') return false
    throw toStorageError(`Cannot write ${path}`, reason)
  }
}

/** Creates a folder and its missing parents durably, with mode 0700. Throws `storage`. */
export async function makePrivateDir(path: string): Promise<void> {
  for (const folder of makePrivateDirSync(path)) await syncDir(dirname(folder))
}

/** Like makePrivateDir(), but not durable. Returns the folders it created, outermost first. */
export function makePrivateDirSync(path: string): string[] {
  try {
    return makeDirs(path)
  } catch (reason) {
    if (!isMissingFile(reason)) throw toStorageError(`Cannot create ${path}`, reason)
    const { path: refused = path } = reason as NodeJS.ErrnoException
    const why = 'the directory above it does not exist or is read-only'
    throw new CrabError('storage', `Cannot create ${refused}: ${why}`, {
      cause: reason,
      hint: 'set CRABTALK_HOME to another directory',
    })
  }
}

/** Makes the entries of a folder durable. Does nothing on Windows, which cannot sync a folder. */
export async function syncDir(path: string): Promise<void> {
  if (platform() === 'win32') return
  await using dir = await open(path, 'r')
  await dir.sync()
}

/** Converts a failed system call to a `storage` error with a hint. Returns a CrabError unchanged. */
export function toStorageError(what: string, reason: unknown): CrabError {
  if (reason instanceof CrabError) return reason
  const knownReason = REASONS[getErrorCode(reason)]
  const why = knownReason?.why ?? (reason instanceof Error ? reason.message : String(reason))
  return new CrabError(
    'storage',
    `${what}: ${why}`,
    knownReason ? { cause: reason, hint: knownReason.hint } : { cause: reason },
  )
}

/** Whether a system call failed because the file does not exist. */
export function isMissingFile(reason: unknown): boolean {
  return getErrorCode(reason) === 'ENOENT'
}

/**
 * Creates folders one by one: `recursive` of Node never returns for an existing folder that refuses with
 * ENOENT, as below /proc.
 */
function makeDirs(path: string): string[] {
  if (isDirectory(path)) return []
  const created = dirname(path) === path ? [] : makeDirs(dirname(path))
  try {
    mkdirSync(path, { mode: PRIVATE_DIR })
    return [...created, path]
  } catch (reason) {
    if (!isDirectory(path)) throw reason
    return created // another process created it first
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * Whether a file name is that of a temporary file which `replaceFile()` or `createFile()` created before
 * `before`, in milliseconds since 1970. A write takes milliseconds, so an old temporary file was left by a
 * killed process.
 */
export function isLeftover(name: string, before: number): boolean {
  const [, id] = SIBLING.exec(name) ?? []
  return id !== undefined && Date.parse(ulidTime(id)) < before
}

/** Returns a unique name in the same folder. */
function newSiblingPath(path: string): string {
  return `${path}.${newUlid()}.tmp`
}

const SIBLING = /\.([0-9A-HJKMNP-TV-Z]{26})\.tmp$/

async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await using file = await open(path, 'wx', mode)
  await file.writeFile(content)
  await file.sync()
}

/**
 * Creates a file on a file system without hard links: reserves the name first, and removes it when the write
 * fails.
 */
async function createInPlace(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await open(path, 'wx', PRIVATE_FILE)
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (reason) {
    await rm(path, { force: true }).catch(() => undefined) // report the first failure
    throw reason
  }
}

/** The error codes of file systems without hard links: exFAT on Linux and on Windows, network mounts, FUSE. */
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
