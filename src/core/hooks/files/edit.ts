import { applyEdits, type EditedText } from './apply-edits.ts'
import type { Edit } from './arguments.ts'
import { type ChangeReport, type FileCall, lockTarget, requireSeenVersion } from './file-call.ts'
import { renderHunks } from './hunks.ts'
import { suggestName } from './listing.ts'
import { openFileTarget, readBytes } from './open-target.ts'
import { replaceContent } from './replace.ts'
import { type FileTarget, newFileError } from './target.ts'
import { decodeText, encodeText, type FileText } from './text.ts'
import { backUpFile } from './undo/backup.ts'
import { hashVersion } from './version.ts'

/**
 * Applies all edits or none, to a file whose version the conversation knows, and returns the lines around
 * them.
 */
export async function editFile(
  call: FileCall,
  edits: readonly Edit[],
  signal: AbortSignal,
): Promise<ChangeReport> {
  await using _ = await lockTarget(call, signal)
  const { target, files } = call
  await using file = await openFileTarget(target, { toChange: true })
  if (!file) throw await missing(target)
  const before = await readBytes(file, target, signal)
  requireSeenVersion(call, await hashVersion(before))
  const content = editable(before, target)
  const edited = editTarget(content.text, edits, target)
  const after = encodeText({ ...content, text: edited.text })
  signal.throwIfAborted()
  const change = { before: { bytes: before, mode: file.stats.mode }, after }
  const remark = await backUpFile(call, change, () => replaceContent(file, { before, after }, target))
  files.set(target.path, await hashVersion(after))
  const output = `Edited ${target.shown}\n${renderHunks(edited)}${remark}`
  return { output, before: content.text, after: edited.text }
}

/** Decodes these bytes. Fails with `invalid` when they are not text. */
export function editable(bytes: Buffer, target: FileTarget): FileText {
  const content = decodeText(bytes)
  if (content) return content
  throw newFileError(target, 'invalid', `it is a binary file of ${bytes.length} bytes`)
}

/** Applies edits to a text. Fails with `invalid` when one of them cannot be applied. */
export function editTarget(text: string, edits: readonly Edit[], target: FileTarget): EditedText {
  const edited = applyEdits(text, edits)
  if (!('problem' in edited)) return edited
  const { problem, hint } = edited
  throw newFileError(target, 'invalid', problem, hint === undefined ? {} : { hint })
}

/** The `missing` error for an edit of a file that does not exist. */
export async function missing(target: FileTarget): Promise<Error> {
  const hint = (await suggestName(target)) ?? 'write creates files'
  return newFileError(target, 'missing', 'the file does not exist', { hint })
}
