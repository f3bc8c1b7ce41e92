import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { createFile, isMissingFile, makePrivateDir, toStorageError } from '../../base/files.ts'
import type { MemoryEntry } from '../types.ts'
import { BOOK_FILE, BOOK_TEXT, KIND_FOLDERS, SUMMARY_FILE, toTreeFiles } from './layout.ts'
import { finishDump, markdownFiles, refuseLinkedKinds, stageDump } from './staged-dump.ts'

/**
 * Writes a memory as a tree of Markdown files that mdbook can show (RFC 0150). A reader, or whoever finds it after a
 * crash, never loses an entry; see stageDump().
 *
 * Markdown files in the folders of the kinds that are of no entry any more are removed, and counted. Everything else is
 * left alone. Throws `conflict` for a folder that holds such files and that no dump has written, or whose folders are
 * links, `no-input` for a file, `storage` when it cannot be written.
 */
export async function dumpTree(
  folder: string,
  entries: readonly MemoryEntry[],
  signal: AbortSignal,
): Promise<{ files: number; removed: number }> {
  try {
    await refuseFile(folder)
    await makePrivateDir(folder)
    await refuseLinkedKinds(folder)
    await finishDump(folder)
    await refuseForeign(folder)
    if (!(await isThere(join(folder, BOOK_FILE)))) await createFile(join(folder, BOOK_FILE), BOOK_TEXT)
    await stageDump(folder, toTreeFiles(entries), signal)
    return { files: entries.length, removed: await finishDump(folder) }
  } catch (reason) {
    if (signal.aborted) throw reason
    throw toStorageError(`Cannot write ${folder}`, reason)
  }
}

async function refuseFile(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (!found || found.isDirectory()) return
  throw new CrabError('no-input', `Cannot dump to ${folder}: it is no folder`, {
    hint: 'name a folder; a new one is made',
  })
}

/** Notes that somebody has in a folder of that name would be gone. */
async function refuseForeign(folder: string): Promise<void> {
  if (await isThere(join(folder, SUMMARY_FILE))) return
  for (const kind of Object.values(KIND_FOLDERS)) {
    const [first] = await markdownFiles(join(folder, kind))
    if (first === undefined) continue
    throw new CrabError(
      'conflict',
      `Cannot dump to ${folder}: ${kind}/${first} is of no dump, and would be removed`,
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
