import { copyFile, link, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { oldProgram } from './installation.ts'

/** Matches the temporary programs that an interrupted update may leave behind. */
const LEFT_OVER = /^\.crabtalk-.+\.new(\.exe)?$/
/** The age after which a temporary program is certainly abandoned. */
const LEFT_OVER_MS = 3_600_000

/**
 * Writes a program beside the one it will replace, so that it can be tried first; the caller removes it or
 * switches to it.
 */
export async function stageProgram(path: string, bytes: Uint8Array): Promise<string> {
  const folder = dirname(path)
  const suffix = path.toLowerCase().endsWith('.exe') ? '.new.exe' : '.new'
  const candidate = join(folder, `.crabtalk-${newUlid()}${suffix}`)
  try {
    await sweep(folder)
    await writeFile(candidate, bytes, { mode: 0o755, flush: true })
    return candidate
  } catch (reason) {
    await rm(candidate, { force: true }).catch(() => undefined) // the first failure is the one to report
    throw toSwitchError(path, reason)
  }
}

/** Removes the leftovers of interrupted updates. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!LEFT_OVER.test(name)) continue
    const { mtimeMs } = await stat(join(folder, name))
    if (Date.now() - mtimeMs > LEFT_OVER_MS) await rm(join(folder, name), { force: true })
  }
}

/**
 * Replaces a program and keeps the previous one as `crabtalk.old`. On Unix a program of that name exists at
 * every moment; running processes keep the file they were started from. Windows allows moving a running file,
 * but not replacing it.
 */
export async function switchProgram(path: string, candidate: string, platform: string): Promise<void> {
  const old = oldProgram(path)
  try {
    if (platform === 'win32') await moveAside(path, candidate, old)
    else {
      await keep(path, old)
      await rename(candidate, path)
    }
    await syncDir(dirname(path))
  } catch (reason) {
    throw toSwitchError(path, reason)
  }
}

/**
 * Keeps the old program as a hard link, or as a copy when the file system has no links; either gets its name
 * atomically.
 */
async function keep(path: string, old: string): Promise<void> {
  const copy = join(dirname(path), `.crabtalk-${newUlid()}.new`)
  if (!(await exists(path))) return // the program was removed: a rollback has nothing to keep
  await link(path, copy).catch(() => copyFile(path, copy))
  await rename(copy, old)
  await rm(copy, { force: true }) // a rename does nothing when both names already belong to one file
}

async function moveAside(path: string, candidate: string, old: string): Promise<void> {
  // A running program can be moved but not removed; a later update removes it.
  await rm(old, { force: true }).catch(() =>
    rename(old, join(dirname(path), `.crabtalk-${newUlid()}.new.exe`)),
  )
  const isThere = await exists(path)
  if (isThere) await rename(path, old)
  await rename(candidate, path).catch(async (reason) => {
    if (isThere) await rename(old, path)
    throw reason
  })
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (reason) => !isMissingFile(reason),
  )
}

function toSwitchError(path: string, reason: unknown): CrabError {
  if (['ENOSPC', 'EDQUOT'].includes(getErrorCode(reason))) {
    return new CrabError('storage', `Cannot replace ${basename(path)}: the disk is full`, {
      cause: reason,
      hint: `nothing was changed; free some space on the disk of ${dirname(path)}`,
    })
  }
  if (['EACCES', 'EPERM', 'EROFS'].includes(getErrorCode(reason))) {
    return new CrabError(
      'credentials',
      `Cannot replace ${path}: you have no write permission in ${dirname(path)}`,
      {
        cause: reason,
        hint: 'run this as the user who owns it, or install your own copy: install.sh --prefix ~/.local',
      },
    )
  }
  return toStorageError(`Cannot replace ${basename(path)}`, reason)
}
