import { lstat, rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import type { UndoneFile } from '../../storage/types.ts'
import type { Lock } from './file-call.ts'
import type { KeptFile } from './kept-file.ts'
import { makeFolder } from './make-folder.ts'
import { hasChanged, type OpenFile, openTarget, readBytes } from './open-target.ts'
import { createContent, replaceContent } from './replace.ts'
import { changed, type FileAccess, type Target, toFileError } from './target.ts'
import { versionOf } from './version.ts'

/** What became of a file. */
export interface TakenBack extends UndoneFile {
  /** Why it was kept; else empty. */
  reason: string
  /** There is nothing more to do for it; false where the disk was in the way. */
  isSettled: boolean
}

/** How files are taken back. */
export interface TakeBackSetting extends FileAccess {
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
export async function takeBack(
  file: KeptFile,
  setting: TakeBackSetting,
  content: () => Promise<Buffer | undefined>,
  signal: AbortSignal,
): Promise<TakenBack> {
  const { path } = file
  const { closed, fdLinks } = setting
  const target: Target = { tool: 'undo', path, shown: path, mayShow: () => false, closed, fdLinks }
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

interface Taking {
  file: KeptFile
  target: Target
  content(): Promise<Buffer | undefined>
  dryRun: boolean
}

async function settle(taking: Taking, signal: AbortSignal): Promise<TakenBack> {
  const { file, target } = taking
  await using open = await openTarget(target, { toChange: true })
  if (!open) return file.before ? await make(taking) : await remove(taking, undefined)
  const bytes = await readBytes(open, target, signal)
  const version = await versionOf(bytes)
  if (version === file.before?.version) return done(file, 'restored')
  if (!file.after.includes(version)) return kept(file, 'it changed after the turn')
  if (file.isMixed) return kept(file, 'something else changed it during the turn, too')
  return file.before ? await replace(taking, open, bytes) : await remove(taking, open)
}

async function replace(taking: Taking, open: OpenFile, bytes: Buffer): Promise<TakenBack> {
  const { file, target, dryRun } = taking
  const before = await taking.content()
  if (!before) return kept(file, lossOf(file))
  if (!dryRun) await replaceContent(open, { before: bytes, after: before }, target)
  return done(file, 'restored')
}

async function make(taking: Taking): Promise<TakenBack> {
  const { file, target, dryRun } = taking
  const bytes = await taking.content()
  if (!bytes) return kept(file, lossOf(file))
  if (dryRun) return done(file, 'restored')
  await using folder = await makeFolder(dirname(file.path), target)
  await createContent(folder, { bytes, target, ...(file.before && { mode: file.before.mode }) })
  return done(file, 'restored')
}

/** Deletes the file, if it is there, and the folders that were made for it, if nothing else is in them. */
async function remove({ file, target, dryRun }: Taking, open: OpenFile | undefined): Promise<TakenBack> {
  if (dryRun) return done(file, 'removed')
  if (open) {
    const path = open.folder.at(open.name)
    if (hasChanged(await lstat(path, { bigint: true }), open.stats)) throw changed(target)
    await open.folder.verify()
    await rm(path)
  }
  for (const folder of file.folders.toReversed()) await rmdir(folder).catch(() => undefined) // it is used by now
  return done(file, 'removed')
}

function lossOf({ before }: KeptFile): string {
  const why = before?.lost || 'that is deleted, or its turn is too old'
  return `what it was before is not kept: ${why}`
}

function done({ path }: KeptFile, outcome: 'restored' | 'removed'): TakenBack {
  return { path, outcome, reason: '', isSettled: true }
}

function kept({ path }: KeptFile, reason: string): TakenBack {
  return { path, outcome: 'kept', reason, isSettled: true }
}
