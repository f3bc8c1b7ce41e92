import { lstat, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CrabError } from '../../../base/errors.ts'
import type { UndoneFile } from '../../../storage/types.ts'
import type { Lock } from '../file-call.ts'
import { makeFolder } from '../make-folder.ts'
import { hasChanged, type OpenFile, openFileTarget, readBytes } from '../open-target.ts'
import { createContent, replaceContent } from '../replace.ts'
import { type FileAccess, type FileTarget, newChangedError, toFileError } from '../target.ts'
import { hashVersion } from '../version.ts'
import type { BackupFile } from './backup-file.ts'

/** The result of restoring one file. */
export interface RestoredFile extends UndoneFile {
  /** The reason the file was left as it is; otherwise empty. */
  reason: string
  /** Whether nothing is left to do for the file; false when a disk error got in the way. */
  isSettled: boolean
}

/** The dependencies of restoring files. */
export interface RestoreOptions extends FileAccess {
  lock: Lock
  /** Whether to report the outcome without changing anything. */
  dryRun: boolean
}

/**
 * Restores what a file held before a turn, or deletes a file that the turn created. A file that something
 * else changed since stays as it is; a deleted one is created again, because no content is lost by that. An
 * obstacle at the file is reported in the result, not thrown.
 *
 * `content` reads the backup.
 */
export async function restoreFiles(
  file: BackupFile,
  setting: RestoreOptions,
  content: () => Promise<Buffer | undefined>,
  signal: AbortSignal,
): Promise<RestoredFile> {
  const { path } = file
  const { closed, fdLinks } = setting
  const target: FileTarget = { tool: 'undo', path, shown: path, mayShow: () => false, closed, fdLinks }
  try {
    await using _ = await setting.lock(`file:${path}`, signal)
    return await settle({ file, target, content, dryRun: setting.dryRun }, signal)
  } catch (reason) {
    signal.throwIfAborted()
    const failure = toFileError(target, reason)
    if (!(failure instanceof CrabError)) throw failure
    const why = failure.message.replace(`Cannot undo ${path}: `, '')
    return { path, outcome: 'kept', reason: why, isSettled: !RETRYABLE.has(failure.kind) }
  }
}

/** Failures that may be gone the next time: a full disk, or a folder that is not writable. */
const RETRYABLE: ReadonlySet<string> = new Set(['storage', 'failed'])

interface RestoreTask {
  file: BackupFile
  target: FileTarget
  content(): Promise<Buffer | undefined>
  dryRun: boolean
}

async function settle(task: RestoreTask, signal: AbortSignal): Promise<RestoredFile> {
  const { file, target } = task
  await using open = await openFileTarget(target, { toChange: true })
  if (!open) return file.before ? await recreate(task) : await remove(task, undefined)
  const bytes = await readBytes(open, target, signal)
  const version = await hashVersion(bytes)
  if (version === file.before?.version) return done(file, 'restored')
  if (!file.after.includes(version)) return toUnchanged(file, 'it changed after the turn')
  if (file.isMixed) return toUnchanged(file, 'something else also changed it during the turn')
  return file.before ? await replace(task, open, bytes) : await remove(task, open)
}

async function replace(task: RestoreTask, open: OpenFile, bytes: Buffer): Promise<RestoredFile> {
  const { file, target, dryRun } = task
  const before = await task.content()
  if (!before) return toUnchanged(file, explainLoss(file))
  if (!dryRun) await replaceContent(open, { before: bytes, after: before }, target)
  return done(file, 'restored')
}

async function recreate(task: RestoreTask): Promise<RestoredFile> {
  const { file, target, dryRun } = task
  const bytes = await task.content()
  if (!bytes) return toUnchanged(file, explainLoss(file))
  if (dryRun) return done(file, 'restored')
  await using folder = await makeFolder(dirname(file.path), target)
  await createContent(folder, { bytes, target, ...(file.before && { mode: file.before.mode }) })
  return done(file, 'restored')
}

/** Deletes the file, if it exists, and the folders that were created for it, if they are empty. */
async function remove(
  { file, target, dryRun }: RestoreTask,
  open: OpenFile | undefined,
): Promise<RestoredFile> {
  if (dryRun) return done(file, 'removed')
  if (open) {
    const path = open.folder.at(open.name)
    if (hasChanged(await lstat(path, { bigint: true }), open.stats)) throw newChangedError(target)
    await open.folder.verify()
    await rm(path)
  }
  for (const folder of file.folders.toReversed()) await rmdir(folder).catch(() => undefined) // it may be in use again
  return done(file, 'removed')
}

function explainLoss({ before }: BackupFile): string {
  const why = before?.lost || 'its backup was deleted, or its turn is too old'
  return `its previous content was not kept: ${why}`
}

function done({ path }: BackupFile, outcome: 'restored' | 'removed'): RestoredFile {
  return { path, outcome, reason: '', isSettled: true }
}

function toUnchanged({ path }: BackupFile, reason: string): RestoredFile {
  return { path, outcome: 'kept', reason, isSettled: true }
}
