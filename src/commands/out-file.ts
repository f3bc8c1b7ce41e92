import { access, chmod, constants, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { isMissingFile, replaceFile, toStorageError } from '../core/base/files.ts'
import type { Host } from './host.ts'

/** Writes the whole content of a file that a person named for output, or nothing. */
export type OutFile = (content: string | Uint8Array) => Promise<void>

/**
 * The file that --out-file names; undefined without a name. Throws `storage` at once when it could never be written.
 *
 * Links are followed and an existing file's mode is kept. What is no regular file (a device, a FIFO) is never
 * replaced, but written to.
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
      if (existing !== undefined) await chmod(path, mode) // the umask took from it
    } catch (cause) {
      throw failed(name, cause)
    }
  }
}

async function checkFolder(folder: string, name: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw isMissingFile(cause) ? unwritable(name, 'there is no such folder', cause) : failed(name, cause)
  }
}

/** Nothing where a look fails: what is wrong with the path is said when its folder is checked. */
async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  return await found.catch(() => undefined)
}

/** As the home directory's files say it, without their advice. */
function failed(name: string, cause: unknown): CrabError {
  const { message } = toStorageError(`Cannot write ${name}`, cause)
  return new CrabError('storage', message, { cause, hint: HINT })
}

function unwritable(name: string, why: string, cause?: unknown): CrabError {
  return new CrabError('storage', `Cannot write ${name}: ${why}`, { cause, hint: HINT })
}

const HINT = 'name another file'
/** The umask decides the rest. */
const NEW_FILE = 0o666
