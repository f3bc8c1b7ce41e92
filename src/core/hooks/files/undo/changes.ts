import { toCrabError } from '../../../base/errors.ts'
import { openFileTarget, readBytes } from '../open-target.ts'
import type { FileAccess, FileTarget } from '../target.ts'
import { decodeText } from '../text.ts'
import { countDiffLines, unifiedDiff } from '../unified-diff.ts'
import { hashVersion } from '../version.ts'
import { readBackupContent } from './backup-file.ts'
import type { MergedBackup } from './merge-backups.ts'

/** The difference between a file and its content before the conversation first changed it. */
export interface ChangedFile {
  /** Absolute, links resolved. */
  path: string
  change: 'created' | 'modified' | 'deleted' | 'none'
  added: number
  removed: number
  /** A unified diff; empty when there is none. */
  diff: string
  /** The reason why there is no diff; otherwise empty. */
  reason: string
}

/** Compares a file with its backup. What prevents that is reported in the result, not thrown. */
export async function compareWithBackup(
  { file, folder }: MergedBackup,
  access: FileAccess,
  signal: AbortSignal,
): Promise<ChangedFile> {
  const { path } = file
  const counts = { path, added: 0, removed: 0, diff: '', reason: '' }
  try {
    const now = await readNow(path, access, signal)
    if (now && (await hashVersion(now)) === file.before?.version) return { ...counts, change: 'none' }
    if (!now && !file.before) return { ...counts, change: 'none' }
    const change = !now ? 'deleted' : file.before ? 'modified' : 'created'
    const before = file.before ? await readBackupContent(folder, file) : Buffer.alloc(0)
    if (!before) return { ...counts, change, reason: 'its first content is not kept' }
    return { ...counts, change, ...(await diffContents(path, before, now ?? Buffer.alloc(0))) }
  } catch (reason) {
    signal.throwIfAborted()
    return { ...counts, change: 'modified', reason: toCrabError(reason).message }
  }
}

async function readNow(path: string, access: FileAccess, signal: AbortSignal): Promise<Buffer | undefined> {
  const target: FileTarget = { tool: 'undo', path, shown: path, mayShow: () => false, ...access }
  await using open = await openFileTarget(target)
  return open && (await readBytes(open, target, signal))
}

async function diffContents(path: string, before: Buffer, after: Buffer): Promise<Partial<ChangedFile>> {
  const [old, fresh] = [decodeText(before), decodeText(after)]
  if (!old || !fresh) return { reason: 'it is not a text file' }
  const diff = await unifiedDiff(path, { before: old.text, after: fresh.text, maxChars: MAX_DIFF_CHARS })
  if (diff === undefined) return { reason: 'its two versions differ too much' }
  return { diff, ...countDiffLines(diff) }
}

/** The longest diff of one file, in UTF-16 units. */
const MAX_DIFF_CHARS = 400_000
