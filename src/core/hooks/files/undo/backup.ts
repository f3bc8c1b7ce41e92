import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { toCrabError } from '../../../base/errors.ts'
import type { FileCall } from '../file-call.ts'
import { hashVersion } from '../version.ts'
import { type BackupFile, type OriginalFile, readBackup, removeBackup, writeBackup } from './backup-file.ts'
import { enforceQuota, type UndoQuota } from './quota.ts'

/** The change that a call is about to make to its file. */
export interface FileChange {
  /** Undefined when the file does not exist. */
  before: { bytes: Buffer; mode: bigint } | undefined
  after: Buffer
}

/**
 * Backs up a file as it was before the turn and then makes a change, so that undo works even if this process
 * is killed at any moment.
 *
 * A failed backup never blocks the change: the change is made anyway, and the returned text, otherwise empty,
 * reports the failure.
 */
export async function backUpFile(
  { target, keep }: FileCall,
  change: FileChange,
  make: () => Promise<void>,
): Promise<string> {
  if (!keep) {
    await make()
    return ''
  }
  const { folder, limits } = keep
  const known = await readBackup(folder, target.path).catch(() => undefined) // writing it reports the problem
  const failure = await write(folder, { path: target.path, known, change, limits }).then(
    () => undefined,
    toCrabError,
  )
  try {
    await make()
  } catch (reason) {
    // The file is unchanged, and undo detects that anyway.
    if (!known) await removeBackup(folder, target.path).catch(() => undefined)
    throw reason
  }
  return failure ? `\n[cannot be undone: ${failure.message}]` : ''
}

async function write(
  folder: string,
  at: { path: string; known: BackupFile | undefined; change: FileChange; limits: UndoQuota },
): Promise<void> {
  const { path, known, change, limits } = at
  const after = await hashVersion(change.after)
  const folders = change.before ? [] : await missingFolders(dirname(path))
  if (known) {
    const isMixed = known.isMixed || (await isForeign(change, known))
    const all = { after: [...new Set([...known.after, after])], folders: [...known.folders, ...folders] }
    return await writeBackup(folder, { ...known, ...all, isMixed })
  }
  const before = change.before && (await describe(folder, change.before, limits))
  const content = before?.lost === '' ? change.before?.bytes : undefined
  if (!content) await enforceQuota(folder, 0, limits) // makes room for one more turn
  await writeBackup(folder, { path, before, after: [after], folders, isMixed: false }, content)
}

async function describe(
  folder: string,
  { bytes, mode }: NonNullable<FileChange['before']>,
  limits: UndoQuota,
): Promise<OriginalFile> {
  return {
    version: await hashVersion(bytes),
    bytes: bytes.length,
    mode: Number(mode & 0o777n),
    lost: await explainLoss(folder, bytes.length, limits),
  }
}

async function explainLoss(folder: string, bytes: number, limits: UndoQuota): Promise<string> {
  if (bytes > limits.fileBytes) return `it had ${bytes} bytes, and up to ${limits.fileBytes} are kept`
  if (await enforceQuota(folder, bytes, limits)) return ''
  return `the turn changed more than the ${limits.sessionBytes} bytes that are kept`
}

/** Whether a file is in a state that the turn neither found nor left. */
async function isForeign({ before }: FileChange, known: BackupFile): Promise<boolean> {
  if (!before) return false // a missing file has no content to lose
  const version = await hashVersion(before.bytes)
  return version !== known.before?.version && !known.after.includes(version)
}

/** Returns this folder and its parents that do not exist, outermost first. */
async function missingFolders(path: string): Promise<string[]> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  )
  return isThere || dirname(path) === path ? [] : [...(await missingFolders(dirname(path))), path]
}
