import { readFile, stat } from 'node:fs/promises'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { type ForeignEntries, readForeignEntries } from './foreign-entry.ts'
import type { ForeignLocation } from './locations.ts'

/** A file with servers. `kind` is absent for a file that the user named. */
export interface ForeignFile extends Partial<ForeignLocation> {
  path: string
  entries: ForeignEntries
}

/** A file that exists, and cannot be used. */
export interface UnreadableFile {
  path: string
  /** A sentence without a full stop. */
  problem: string
}

/**
 * Reads the files that exist. Files that have no server are left out, because most programs keep other
 * settings in them too.
 */
export async function readForeignFiles(
  locations: readonly (Partial<ForeignLocation> & { path: string })[],
): Promise<{ files: ForeignFile[]; unreadable: UnreadableFile[] }> {
  const files: ForeignFile[] = []
  const unreadable: UnreadableFile[] = []
  for (const location of locations) {
    try {
      const text = await readText(location.path)
      if (text !== undefined && text.trim() !== '')
        files.push({ ...location, entries: readForeignEntries(text) })
    } catch (reason) {
      if (!(reason instanceof CrabError)) throw reason
      if (location.kind !== undefined && / contains no server$/.test(reason.message)) continue
      unreadable.push({ path: location.path, problem: reason.message })
    }
  }
  return { files, unreadable }
}

/** Reads a text file; undefined when there is none. Throws `storage`, or `invalid` for one that is too large. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES)
      throw new CrabError('invalid', `Cannot read the servers: the file has ${size} bytes`)
    return await readFile(path, 'utf8')
  } catch (reason) {
    if (reason instanceof CrabError) throw reason
    if (isMissingFile(reason) || getErrorCode(reason) === 'ENOTDIR') return undefined
    throw new CrabError(
      'storage',
      `Cannot read the servers: ${getErrorCode(reason) || 'it cannot be read'}`,
      {
        cause: reason,
      },
    )
  }
}

/** The state of some programs, with all their conversations, is in the same file. */
const MAX_BYTES = 128 * 1024 * 1024
