import { applyEdits, type Edited } from './apply-edits.ts'
import type { Edit } from './arguments.ts'
import { type FileCall, lockTarget, requireKnown } from './file-call.ts'
import { keepBefore } from './keep-before.ts'
import { nearName } from './listing.ts'
import { openTarget, readBytes } from './open-target.ts'
import { replaceContent } from './replace.ts'
import { surroundings } from './surroundings.ts'
import { cannot, type Target } from './target.ts'
import { decodeText, encodeText, type FileText } from './text.ts'
import { versionOf } from './version.ts'

/** Makes all edits or none, in a file whose version the conversation knows, and shows the lines around them. */
export async function edit(call: FileCall, edits: readonly Edit[], signal: AbortSignal): Promise<string> {
  await using _ = await lockTarget(call, signal)
  const { target, files } = call
  await using file = await openTarget(target, { toChange: true })
  if (!file) throw await missing(target)
  const before = await readBytes(file, target, signal)
  requireKnown(call, await versionOf(before))
  const content = editable(before, target)
  const edited = editedOf(content.text, edits, target)
  const after = encodeText({ ...content, text: edited.text })
  signal.throwIfAborted()
  const change = { before: { bytes: before, mode: file.stats.mode }, after }
  const remark = await keepBefore(call, change, () => replaceContent(file, { before, after }, target))
  files.set(target.path, await versionOf(after))
  return `Edited ${target.shown}\n${surroundings(edited)}${remark}`
}

/** The text in these bytes. Fails with `invalid` when they are no text. */
export function editable(bytes: Buffer, target: Target): FileText {
  const content = decodeText(bytes)
  if (content) return content
  throw cannot(target, 'invalid', `it is a binary file of ${bytes.length} bytes`)
}

/** A text after its edits. Fails with `invalid` when one of them cannot be made. */
export function editedOf(text: string, edits: readonly Edit[], target: Target): Edited {
  const edited = applyEdits(text, edits)
  if (!('problem' in edited)) return edited
  const { problem, hint } = edited
  throw cannot(target, 'invalid', problem, hint === undefined ? {} : { hint })
}

/** What an edit of a file that is not there fails with. */
export async function missing(target: Target): Promise<Error> {
  const hint = (await nearName(target)) ?? 'write creates files'
  return cannot(target, 'missing', 'there is no such file', { hint })
}
