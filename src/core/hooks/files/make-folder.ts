import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissingFile } from '../../base/files.ts'
import { getErrorCode } from '../../base/system-error.ts'
import { type Folder, openFolder } from '../folder.ts'
import { type FileTarget, folderAccess, toFileError } from './target.ts'

/**
 * Opens a folder as openFolder() does, and creates missing folders, with the permissions that the umask
 * allows.
 */
export async function makeFolder(path: string, target: FileTarget): Promise<Folder> {
  try {
    return await openFolder(path, folderAccess(target))
  } catch (reason) {
    if (!isMissingFile(reason) || dirname(path) === path) throw toFileError(target, reason)
  }
  await using parent = await makeFolder(dirname(path), target)
  try {
    await mkdir(parent.at(path.slice(join(dirname(path), '/').length))).catch(unlessThere)
    await parent.verify()
    return await openFolder(path, folderAccess(target))
  } catch (reason) {
    throw toFileError(target, reason)
  }
}

function unlessThere(reason: unknown): void {
  if (getErrorCode(reason) !== 'EEXIST') throw reason // EEXIST: another process created it first
}
