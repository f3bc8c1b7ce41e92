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

/** What became of a file. */
export interface RestoredFile extends UndoneFile {
  /** Why it was kept; else empty. */
  reason: string
  /** There is nothing more to do for it; false where the disk was in the way. */
  isSettled: boolean
}

/** How files are taken back. */
export interface RestoreOptions extends FileAccess {
  lock: Lock
  /** Only says what would happen. */
  dryRun: boolean
}

/**
 * Gives a file what it held before a turn, or deletes it where the turn created it. One that something else changed since
 * stays as it is; one that is gone is made again, because nothing is lost by that. Never throws for a file in the way.
 *
 * `content` gives what is kept.
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
    return { path, outcome: 'kept', reason: why, isSettled: !MENDABLE.has(failure.kind) }
  }
}

/** Undo can work another time: the disk is full, or a folder takes no file. */
const MENDABLE: ReadonlySet<string> = new Set(['storage', 'failed'])

interface RestoreTask {
  file: BackupFile
  target: FileTarget
  content(): Promise<Buffer | undefined>
  dryRun: boolean
}

async function settle(taking: RestoreTask, signal: AbortSignal): Promise<RestoredFile> {
  const { file, target } = taking
  await using open = await openFileTarget(target, { toChange: true })
  if (!open) return file.before ? await make(taking) : await remove(taking, undefined)
  const bytes = await readBytes(open, target, signal)
  const version = await hashVersion(bytes)
  if (version === file.before?.version) return done(file, 'restored')
  if (!file.after.includes(version)) return toUnchanged(file, 'it changed after the turn')
  if (file.isMixed) return toUnchanged(file, 'something else changed it during the turn, too')
  return file.before ? await replace(taking, open, bytes) : await remove(taking, open)
}

async function replace(taking: RestoreTask, open: OpenFile, bytes: Buffer): Promise<RestoredFile> {
  const { file, target, dryRun } = taking
  const before = await taking.content()
  if (!before) return toUnchanged(file, explainLoss(file))
  if (!dryRun) await replaceContent(open, { before: bytes, after: before }, target)
  return done(file, 'restored')
}

async function make(taking: RestoreTask): Promise<RestoredFile> {
  const { file, target, dryRun } = taking
  const bytes = await taking.content()
  if (!bytes) return toUnchanged(file, explainLoss(file))
  if (dryRun) return done(file, 'restored')
  await using folder = await makeFolder(dirname(file.path), target)
  await createContent(folder, { bytes, target, ...(file.before && { mode: file.before.mode }) })
  return done(file, 'restored')
}

/** Deletes the file, if it is there, and the folders that were made for it, if nothing else is in them. */
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
  for (const folder of file.folders.toReversed()) await rmdir(folder).catch(() => undefined) // it is used by now
  return done(file, 'removed')
}

function explainLoss({ before }: BackupFile): string {
  const why = before?.lost || 'that is deleted, or its turn is too old'
  return `what it was before is not kept: ${why}`
}

function done({ path }: BackupFile, outcome: 'restored' | 'removed'): RestoredFile {
  return { path, outcome, reason: '', isSettled: true }
}

function toUnchanged({ path }: BackupFile, reason: string): RestoredFile {
  return { path, outcome: 'kept', reason, isSettled: true }
}
