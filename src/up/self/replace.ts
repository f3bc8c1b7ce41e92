import { copyFile, link, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { oldProgram } from './installation.ts'

/** What a program may have been called while it was written by one that was killed. */
const LEFT_OVER = /^\.crabtalk-.+\.new(\.exe)?$/
/** Nobody takes that long to write one. */
const LEFT_OVER_MS = 3_600_000

/** Writes a program beside the one it is to replace, so that it can be tried; the caller removes it or switches to it. */
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

/** Removes what updates that were killed have left. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!LEFT_OVER.test(name)) continue
    const { mtimeMs } = await stat(join(folder, name))
    if (Date.now() - mtimeMs > LEFT_OVER_MS) await rm(join(folder, name), { force: true })
  }
}

/**
 * Puts a program in the place of another, which is kept as `crabtalk.old`. There is a program of that name at every
 * moment, and what runs keeps the file it was started from. Windows lets nobody replace a file that runs, but move it.
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

/** A second name for the file, or a copy where the file system has no such thing; either gets the name at once. */
async function keep(path: string, old: string): Promise<void> {
  const made = join(dirname(path), `.crabtalk-${newUlid()}.new`)
  if (!(await exists(path))) return // the file was removed: what is put back is the only one
  await link(path, made).catch(() => copyFile(path, made))
  await rename(made, old)
  await rm(made, { force: true }) // renaming does nothing where both are names of one file already
}

async function moveAside(path: string, candidate: string, old: string): Promise<void> {
  // One that still runs can be moved, not removed: it goes when a later update finds it.
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
    return new CrabError('credentials', `Cannot replace ${path}: ${dirname(path)} is not yours to write`, {
      cause: reason,
      hint: 'do it as the user who owns it, or install one of your own: install.sh --prefix ~/.local',
    })
  }
  return toStorageError(`Cannot replace ${basename(path)}`, reason)
}
