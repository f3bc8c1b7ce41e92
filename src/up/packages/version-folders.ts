import { mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makePrivateDir, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { isRunning } from '../../core/process/signals.ts'
import type { UpHost } from '../types.ts'
import { FAILED_VERSION_FILE } from './failed-version.ts'
import { CURRENT_LINK } from './installed.ts'

/** A temporary folder below `packages/`, and so on the same disk; removed when disposed. */
export interface Staging extends AsyncDisposable {
  path: string
}

/** Creates a staging folder and removes those of processes that have died. Throws `storage`. */
export async function openStaging({ packages }: Pick<HomePaths, 'packages'>, pid: number): Promise<Staging> {
  const all = join(packages, STAGING)
  const path = join(all, `${pid}-${newUlid()}`)
  await makePrivateDir(all)
  const left = (await readdir(all)).filter((name) => !isRunning(Number.parseInt(name, 10)))
  await Promise.all(left.map((name) => removeTree(join(all, name))))
  await mkdir(path, { mode: 0o700 }).catch((reason: unknown) => {
    throw toStorageError(`Cannot make ${path}`, reason)
  })
  return { path, [Symbol.asyncDispose]: () => removeTree(path) }
}

/** Returns the name of the current version in the folder of a component; undefined when there is none. */
export async function currentVersion(folder: string): Promise<string | undefined> {
  const target = await readlink(join(folder, CURRENT_LINK)).catch(() => undefined)
  return target === undefined ? undefined : basename(target)
}

/** Moves a finished installation into the folder of its component; returns its folder name there. */
export async function addVersion(installation: string, folder: string, version: string): Promise<string> {
  await makePrivateDir(folder)
  const taken = new Set(await readdir(folder))
  let name = version
  for (let n = 2; taken.has(name); n += 1) name = `${version}_${n}`
  try {
    await rename(installation, join(folder, name))
    await syncDir(folder)
  } catch (reason) {
    throw toStorageError(`Cannot write ${join(folder, name)}`, reason)
  }
  return name
}

/**
 * Makes a version the current one; readers see either the old or the new one. On Windows, which cannot
 * replace a directory link, there is no current version for a moment. Throws `storage`.
 */
export async function switchVersion(
  folder: string,
  version: string,
  platform: UpHost['platform'],
): Promise<void> {
  const [link, fresh] = [join(folder, CURRENT_LINK), join(folder, `.${CURRENT_LINK}.${newUlid()}`)]
  try {
    if (platform === 'win32') {
      await symlink(join(folder, version), fresh, 'junction')
      await rm(link, { force: true, recursive: true }) // removes the link, not its target
    } else await symlink(version, fresh)
    await rename(fresh, link)
    await syncDir(folder)
  } catch (reason) {
    await rm(fresh, { force: true }).catch(() => undefined) // the first failure is the one to report
    throw toStorageError(`Cannot switch to ${join(folder, version)}`, reason)
  }
}

/**
 * Removes all other versions from the folder of a component, including leftovers of interrupted pulls. The
 * caller holds the component's lock.
 */
export async function pruneVersions(folder: string): Promise<void> {
  const current = await currentVersion(folder)
  const names: string[] = await readdir(folder).catch(() => [])
  const isThere = current !== undefined && names.includes(current)
  const retained: readonly string[] = isThere
    ? [CURRENT_LINK, current, FAILED_VERSION_FILE]
    : [FAILED_VERSION_FILE]
  await Promise.all(
    names.filter((name) => !retained.includes(name)).map((name) => removeTree(join(folder, name))),
  )
}

/** Removes a folder; a failure leaves it to the next cleanup. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
}

/** Begins with a dot, so it cannot collide with the name of a component. */
const STAGING = '.staging'
