import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isMissingFile } from '../../base/files.ts'
import { type Folder, openFolder } from '../folder.ts'
import { openProtectedPaths, type ProtectedPaths } from '../protected-paths.ts'
import { listing } from './listing.ts'
import { type FileTarget, folderAccess, newChangedError, newFileError, toFileError } from './target.ts'

/** The largest file that is read as a whole, in bytes. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/** The open file of a tool call, in its folder. */
export interface OpenFile extends AsyncDisposable {
  folder: Folder
  name: string
  handle: FileHandle
  /** The stats at the time it was opened. */
  stats: BigIntStats
}

/** Returns the protected paths of a call; fails with `denied` when its own path is one. */
export async function refuseClosed(target: FileTarget): Promise<ProtectedPaths> {
  const closed = await openProtectedPaths(target.closed)
  if (closed.holds(target.path)) throw closedError(target)
  return closed
}

/**
 * Opens exactly the path that was judged: not a link, not another kind of file, not a protected path.
 * Undefined when it is missing.
 *
 * With `toChange` it is opened for writing. Fails with a CrabError that names the file and the reason.
 */
export async function openFileTarget(
  target: FileTarget,
  { toChange = false } = {},
): Promise<OpenFile | undefined> {
  try {
    const closed = await refuseClosed(target)
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(await openFolder(dirname(target.path), folderAccess(target)))
    const name = basename(target.path)
    const stats = await lstat(folder.at(name), { bigint: true })
    await refuseOddities(stats, target, closed)
    const handle = stack.use(await open(folder.at(name), flagsFor(toChange)))
    const opened = await handle.stat({ bigint: true })
    if (!isSameFile(opened, stats)) throw newChangedError(target)
    await folder.verify()
    const owned = stack.move()
    return { folder, name, handle, stats: opened, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toFileError(target, reason)
  }
}

/** Reads an open file whole. Fails with `invalid` when it exceeds MAX_FILE_BYTES. */
export async function readBytes(file: OpenFile, target: FileTarget, signal: AbortSignal): Promise<Buffer> {
  try {
    let bytes = Buffer.allocUnsafe(Math.min(Number(file.stats.size), MAX_FILE_BYTES) + 1)
    let length = 0
    for (;;) {
      signal.throwIfAborted()
      if (file.stats.size > MAX_FILE_BYTES || length > MAX_FILE_BYTES) throw tooLarge(file, target)
      const { bytesRead } = await file.handle.read(bytes, length, bytes.length - length, length)
      length += bytesRead
      if (bytesRead === 0) return bytes.subarray(0, length)
      if (length === bytes.length)
        bytes = Buffer.concat([bytes, Buffer.allocUnsafe(Math.max(length, CHUNK_BYTES))])
    }
  } catch (reason) {
    throw toFileError(target, reason)
  }
}

/** Whether a file was written or replaced between two stats. */
export function hasChanged(now: BigIntStats, then: BigIntStats): boolean {
  return !isSameFile(now, then) || now.size !== then.size || now.mtimeNs !== then.mtimeNs
}

const CHUNK_BYTES = 64 * 1024

/**
 * Returns flags that neither follow a link nor wait for the other end of a pipe, in case one has taken the
 * file's place.
 */
function flagsFor(toChange: boolean): number {
  const access = toChange ? constants.O_RDWR : constants.O_RDONLY
  return access | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
}

async function refuseOddities(stats: BigIntStats, target: FileTarget, closed: ProtectedPaths): Promise<void> {
  if (stats.isDirectory()) {
    const hint = target.tool === 'read' ? await listing(target) : undefined
    throw newFileError(target, 'invalid', 'it is a folder', hint === undefined ? {} : { hint })
  }
  const kind = ODDITIES.find(({ is }) => is(stats))
  if (kind) throw newFileError(target, 'invalid', `it is ${kind.name}, not a file`)
  if (await closed.hasNameIn(stats)) throw closedError(target)
}

const ODDITIES: readonly { name: string; is(stats: BigIntStats): boolean }[] = [
  { name: 'a link now', is: (stats) => stats.isSymbolicLink() },
  { name: 'a named pipe', is: (stats) => stats.isFIFO() },
  { name: 'a socket', is: (stats) => stats.isSocket() },
  { name: 'a device', is: (stats) => stats.isCharacterDevice() || stats.isBlockDevice() },
]

function closedError(target: FileTarget): Error {
  return newFileError(target, 'denied', "it is one of crabtalk's own files")
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

function tooLarge({ stats }: OpenFile, target: FileTarget): Error {
  const why = `it has ${stats.size} bytes; the limit is ${MAX_FILE_BYTES}`
  return newFileError(target, 'invalid', why, { hint: 'search it with grep, or take a part of it with bash' })
}
