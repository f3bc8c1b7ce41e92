import type { SeenVersions } from '../../policy/types.ts'
import type { Edit } from './arguments.ts'
import { editable, editTarget, missing } from './edit.ts'
import { requireSeenVersion } from './file-call.ts'
import { openFileTarget, readBytes } from './open-target.ts'
import type { FileTarget } from './target.ts'
import { decodeText } from './text.ts'
import { unifiedDiff } from './unified-diff.ts'
import { hashVersion } from './version.ts'
import { contentFor } from './write.ts'

/** The change that `write` or `edit` would make to its file. */
export type ProposedChange = { content: string } | { edits: readonly Edit[] }

/** The longest diff, in UTF-16 units. */
const MAX_CHARS = 20_000

/**
 * Returns a unified diff of what a call would do to the current file, for the person who is asked; texts that
 * differ too much are described by their lengths. Changes nothing. Fails as the call would; without `seen` it
 * does not check that the conversation has read the file.
 */
export async function preview(
  target: FileTarget,
  change: ProposedChange,
  seen?: SeenVersions,
): Promise<string> {
  const { before, after } = await bothTexts(target, change, seen)
  const diff = await unifiedDiff(target.shown, { before, after, maxChars: MAX_CHARS })
  return diff ?? `${target.shown}: ${before.length} characters become ${after.length}\n`
}

/** Returns the unified diff of a change that was made; undefined for texts that are equal or differ too much. */
export async function renderChange(
  { shown }: Pick<FileTarget, 'shown'>,
  { before, after }: { before: string; after: string },
): Promise<string | undefined> {
  if (before === after) return undefined
  return await unifiedDiff(shown, { before, after, maxChars: MAX_CHARS })
}

async function bothTexts(
  target: FileTarget,
  change: ProposedChange,
  seen: SeenVersions | undefined,
): Promise<{ before: string; after: string }> {
  await using file = await openFileTarget(target)
  if (!file && 'edits' in change) throw await missing(target)
  const bytes = file ? await readBytes(file, target, AbortSignal.any([])) : Buffer.alloc(0)
  const isNew = 'content' in change && bytes.length === 0
  if (seen && !isNew) requireSeenVersion({ target, files: seen }, await hashVersion(bytes))
  if ('edits' in change) {
    const before = editable(bytes, target).text
    return { before, after: editTarget(before, change.edits, target).text }
  }
  const before = decodeText(bytes)
  return { before: before?.text ?? '', after: contentFor(change.content, before).text }
}
