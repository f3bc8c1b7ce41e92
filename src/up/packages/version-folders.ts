import { mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makePrivateDir, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { isRunning } from '../../core/process/signals.ts'
import type { UpHost } from '../types.ts'
import { FAILED_VERSION_FILE } from './failed-version.ts'
import { CURRENT_LINK } from './installed.ts'

/** A folder for work below `packages/`, on the same disk; removed when disposed. */
export interface Staging extends AsyncDisposable {
  path: string
}

/** Makes one, and removes those of processes that have died. Fails with `storage`. */
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

/** The name of the version that counts in the folder of a component; undefined when there is none. */
export async function currentVersion(folder: string): Promise<string | undefined> {
  const target = await readlink(join(folder, CURRENT_LINK)).catch(() => undefined)
  return target === undefined ? undefined : basename(target)
}

/** Moves a finished installation into the folder of its component and gives the name it has there. */
export async function addVersion(made: string, folder: string, version: string): Promise<string> {
  await makePrivateDir(folder)
  const taken = new Set(await readdir(folder))
  let name = version
  for (let n = 2; taken.has(name); n += 1) name = `${version}_${n}`
  try {
    await rename(made, join(folder, name))
    await syncDir(folder)
  } catch (reason) {
    throw toStorageError(`Cannot write ${join(folder, name)}`, reason)
  }
  return name
}

/**
 * Makes one of the versions the one that counts: readers see the old one or this one. On Windows, which cannot replace a
 * folder link, there is none for a moment. Fails with `storage`.
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
      await rm(link, { force: true, recursive: true }) // the link, not what it leads to
    } else await symlink(version, fresh)
    await rename(fresh, link)
    await syncDir(folder)
  } catch (reason) {
    await rm(fresh, { force: true }).catch(() => undefined) // the first failure is the one to report
    throw toStorageError(`Cannot switch to ${join(folder, version)}`, reason)
  }
}

/** Removes from the folder of a component what does not count, after whoever died in it. The caller has the right to change it. */
export async function pruneVersions(folder: string): Promise<void> {
  const current = await currentVersion(folder)
  const names: string[] = await readdir(folder).catch(() => [])
  const isThere = current !== undefined && names.includes(current)
  const kept: readonly string[] = isThere
    ? [CURRENT_LINK, current, FAILED_VERSION_FILE]
    : [FAILED_VERSION_FILE]
  await Promise.all(
    names.filter((name) => !kept.includes(name)).map((name) => removeTree(join(folder, name))),
  )
}

/** Removes a folder; what cannot be removed now is by the next that tidies up. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
}

/** Begins with a dot: no component can be called so. */
const STAGING = '.staging'
