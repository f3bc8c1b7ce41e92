import { access, chmod, constants, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { isMissingFile, replaceFile, toStorageError } from '../core/base/files.ts'
import type { Host } from './host.ts'

/** Writes the whole content of an output file that the user named, or nothing. */
export type OutFile = (content: string | Uint8Array) => Promise<void>

/**
 * Opens the file that --out-file names; returns undefined without a name. Throws `storage` immediately when
 * the file can never be written.
 *
 * Links are followed, and the mode of an existing file is kept. A special file (a device, a FIFO) is written
 * to, never replaced.
 */
export async function openOutFile(name: string | undefined, host: Host): Promise<OutFile | undefined> {
  if (name === undefined) return undefined
  const named = resolve(host.cwd(), name)
  const path = (await orUndefined(realpath(named))) ?? named
  const existing = await orUndefined(stat(path))
  if (existing?.isDirectory()) throw unwritable(name, 'it is a directory')
  const isSpecial = existing !== undefined && !existing.isFile()
  if (!isSpecial) await checkFolder(dirname(path), name)
  const mode = existing === undefined ? NEW_FILE : existing.mode & 0o777
  return async (content) => {
    try {
      if (isSpecial) return await writeFile(path, content)
      await replaceFile(path, content, mode)
      if (existing !== undefined) await chmod(path, mode) // the umask reduced it
    } catch (cause) {
      throw failed(name, cause)
    }
  }
}

async function checkFolder(folder: string, name: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw isMissingFile(cause) ? unwritable(name, 'the directory does not exist', cause) : failed(name, cause)
  }
}

/** Returns undefined when a path cannot be examined: the check of its folder reports the reason. */
async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  return await found.catch(() => undefined)
}

/** Returns the same error as for files of the home, with another hint. */
function failed(name: string, cause: unknown): CrabError {
  const { message } = toStorageError(`Cannot write ${name}`, cause)
  return new CrabError('storage', message, { cause, hint: HINT })
}

function unwritable(name: string, why: string, cause?: unknown): CrabError {
  return new CrabError('storage', `Cannot write ${name}: ${why}`, { cause, hint: HINT })
}

const HINT = 'name another file'
/** The mode of a new file, before the umask. */
const NEW_FILE = 0o666
