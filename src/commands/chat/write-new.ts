import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'

/** The folders that paths are relative to; both absolute. */
export interface BaseFolders {
  cwd: string
  home: string
}

/**
 * Writes a file that does not exist yet and returns its absolute path; a leading `~/` means the home
 * directory.
 *
 * Throws `conflict` when the file exists, `missing` when its folder does not, else `storage`.
 */
export async function writeNewFile(path: string, text: string, { cwd, home }: BaseFolders): Promise<string> {
  const absolute = resolve(cwd, path.startsWith('~/') ? join(home, path.slice(2)) : path)
  try {
    await writeFile(absolute, text, { flag: 'wx' })
    return absolute
  } catch (cause) {
    if (getErrorCode(cause) === 'EEXIST')
      throw new CrabError('conflict', `Cannot write ${path}: it already exists`, {
        cause,
        hint: 'choose another name',
      })
    if (getErrorCode(cause) === 'ENOENT')
      throw new CrabError('missing', `Cannot write ${path}: the directory does not exist`, {
        cause,
        hint: 'create the directory first',
      })
    throw toStorageError(`Cannot write ${path}`, cause)
  }
}
