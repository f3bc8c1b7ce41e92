import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { createFile, isMissingFile, makePrivateDir, toStorageError } from '../../base/files.ts'
import type { MemoryEntry } from '../types.ts'
import { BOOK_FILE, BOOK_TEXT, KIND_FOLDERS, SUMMARY_FILE, toTreeFiles } from './layout.ts'
import { finishDump, markdownFiles, refuseLinkedKinds, stageDump } from './staged-dump.ts'

/**
 * Writes a memory as a tree of Markdown files that mdBook can render. Readers find every entry at any time,
 * even after a crash; see stageDump().
 *
 * Removes, and counts, Markdown files in the folders of the kinds that no longer belong to an entry. Leaves
 * all other files alone. Throws `conflict` for a folder with such files that was not written by a dump, or
 * whose folders are links; `no-input` for a file; `storage` when it cannot be written.
 */
export async function dumpTree(
  folder: string,
  entries: readonly MemoryEntry[],
  signal: AbortSignal,
): Promise<{ files: number; removed: number }> {
  try {
    await rejectFile(folder)
    await makePrivateDir(folder)
    await refuseLinkedKinds(folder)
    await finishDump(folder)
    await rejectForeign(folder)
    if (!(await isThere(join(folder, BOOK_FILE)))) await createFile(join(folder, BOOK_FILE), BOOK_TEXT)
    await stageDump(folder, toTreeFiles(entries), signal)
    return { files: entries.length, removed: await finishDump(folder) }
  } catch (reason) {
    if (signal.aborted) throw reason
    throw toStorageError(`Cannot write ${folder}`, reason)
  }
}

async function rejectFile(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (!found || found.isDirectory()) return
  throw new CrabError('no-input', `Cannot dump to ${folder}: it is not a folder`, {
    hint: 'name a folder; it is created if needed',
  })
}

/** Protects notes that the user keeps in a folder of the same name; a dump would remove them. */
async function rejectForeign(folder: string): Promise<void> {
  if (await isThere(join(folder, SUMMARY_FILE))) return
  for (const kind of Object.values(KIND_FOLDERS)) {
    const [first] = await markdownFiles(join(folder, kind))
    if (first === undefined) continue
    throw new CrabError(
      'conflict',
      `Cannot dump to ${folder}: ${kind}/${first} was not written by a dump and would be deleted`,
      {
        hint: 'choose an empty folder',
      },
    )
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (reason) {
    if (isMissingFile(reason)) return false
    throw reason
  }
}
