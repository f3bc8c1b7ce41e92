import type { BigIntStats } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { getErrorCode } from '../../base/system-error.ts'
import type { Folder } from '../folder.ts'
import { hasChanged, type OpenFile } from './open-target.ts'
import { newSiblingName } from './sibling.ts'
import { type FileTarget, newChangedError, newFileError, toFileError } from './target.ts'

/**
 * Creates a file completely or not at all, with this mode, or with the one that the umask allows. Fails with
 * `conflict` when the name is already taken.
 *
 * On a file system without hard links, a file that takes the name in the last microseconds is overwritten.
 */
export async function createContent(
  folder: Folder,
  { bytes, target, mode }: { bytes: Buffer; target: FileTarget; mode?: number },
): Promise<void> {
  const sibling = folder.at(newSiblingName(target.path))
  try {
    await using file = await open(sibling, 'wx', mode === undefined ? 0o666 : 0o600)
    await writeAt(file, bytes, 0)
    if (mode !== undefined) await file.chmod(mode)
    await file.datasync()
    await folder.verify()
    await takeName(sibling, folder.at(basename(target.path)))
  } catch (reason) {
    if (getErrorCode(reason) === 'EEXIST')
      throw newFileError(target, 'conflict', 'a file of that name was created in the meantime', {
        hint: 'read it first',
      })
    throw toFileError(target, reason)
  } finally {
    await rm(sibling, { force: true }).catch(() => undefined) // a leftover copy is not a reason to fail
  }
}

/**
 * Replaces the contents of an open file atomically: a reader, or a crash, sees either the old or the new
 * contents. Mode and owner stay.
 *
 * A file with several hard links, with an owner that a new file cannot be given, or in a folder where no file
 * can be created is written in place instead, so that it stays the same file: a failure restores it, a crash
 * may leave a mixture.
 */
export async function replaceContent(
  file: OpenFile,
  content: { before: Buffer; after: Buffer },
  target: FileTarget,
): Promise<void> {
  try {
    if (file.stats.nlink > 1n || !(await replaceBySibling(file, content.after, target)))
      await overwrite(file, content, target)
  } catch (reason) {
    throw toFileError(target, reason)
  }
}

/** Returns false, with nothing changed, when the file must be written in place. */
async function replaceBySibling(
  { folder, name, stats }: OpenFile,
  bytes: Buffer,
  target: FileTarget,
): Promise<boolean> {
  const sibling = folder.at(newSiblingName(target.path))
  try {
    await writeAlike(sibling, bytes, stats)
    const now = await lstat(folder.at(name), { bigint: true })
    if (hasChanged(now, stats)) throw newChangedError(target)
    await folder.verify()
    await rename(sibling, folder.at(name))
    return true
  } catch (reason) {
    if (!NEEDS_ITS_PLACE.has(getErrorCode(reason))) throw reason
    return false
  } finally {
    await rm(sibling, { force: true }).catch(() => undefined) // a leftover copy is not a reason to fail
  }
}

/** Creates a file with the owner and mode of another; only this user can read it until then. */
async function writeAlike(path: string, bytes: Buffer, { uid, gid, mode }: BigIntStats): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await writeAt(file, bytes, 0)
  const created = await file.stat({ bigint: true })
  if (created.uid !== uid || created.gid !== gid) await file.chown(Number(uid), Number(gid))
  await file.chmod(Number(mode & 0o7777n))
  await file.datasync()
}

/** Writes in place. It extends the file first, so that a full disk changes nothing. */
async function overwrite(
  { handle, stats }: OpenFile,
  { before, after }: { before: Buffer; after: Buffer },
  target: FileTarget,
): Promise<void> {
  if (hasChanged(await handle.stat({ bigint: true }), stats)) throw newChangedError(target)
  try {
    await writeAt(handle, after.subarray(before.length), before.length)
    await writeAt(handle, after.subarray(0, before.length), 0)
    await handle.truncate(after.length)
    await handle.datasync()
  } catch (reason) {
    await writeAt(handle, before, 0).catch(() => undefined) // the first failure is the one to report
    await handle.truncate(before.length).catch(() => undefined)
    throw reason
  }
}

async function takeName(sibling: string, path: string): Promise<void> {
  try {
    await link(sibling, path)
  } catch (reason) {
    if (!WITHOUT_LINKS.has(getErrorCode(reason))) throw reason
    await rename(sibling, path)
  }
}

async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}

/**
 * Errors of a folder where no file can be created, an owner that cannot be set, or a mount point (such as a
 * single file shared with a container).
 */
const NEEDS_ITS_PLACE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV'])

/** The errors of link() on file systems without hard links. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
