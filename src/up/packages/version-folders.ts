import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makePrivateDir, replaceFile, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { isRunning } from '../../core/process/signals.ts'
import type { UpHost } from '../types.ts'
import { CURRENT } from './installed.ts'

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
  const target = await readlink(join(folder, CURRENT)).catch(() => undefined)
  return target === undefined ? undefined : basename(target)
}

/** Moves a finished installation into the folder of its component and gives the name it has there. */
export async function moveIn(made: string, folder: string, version: string): Promise<string> {
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
export async function switchTo(folder: string, version: string, platform: UpHost['platform']): Promise<void> {
  const [link, fresh] = [join(folder, CURRENT), join(folder, `.${CURRENT}.${newUlid()}`)]
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

/** Notes the version to go back to until a new one has shown that it starts; a process that dies meanwhile leaves it to the next. */
export async function noteWayBack(folder: string, version: string): Promise<void> {
  await replaceFile(join(folder, PENDING), `${JSON.stringify({ back: version })}\n`)
}

/** Whether nobody knows yet that the version which counts starts: it is being tried, or who tried it died. */
export function isOnTrial(folder: string): boolean {
  return existsSync(join(folder, PENDING))
}

/** The new version has started, or the old one is back. */
export async function forgetWayBack(folder: string): Promise<void> {
  await rm(join(folder, PENDING), { force: true })
}

/**
 * Brings the folder of a component in order after whoever died in it: back to the version before one that never showed
 * that it starts, and without all that does not count. The caller has the right to change it.
 */
export async function tidy(folder: string, platform: UpHost['platform']): Promise<void> {
  const back = parseObject(await readFile(join(folder, PENDING), 'utf8').catch(() => ''))?.['back']
  const isThere = typeof back === 'string' && basename(back) === back && (await isFolder(join(folder, back)))
  if (isThere) await switchTo(folder, back, platform)
  await forgetWayBack(folder)
  const current = await currentVersion(folder)
  const names: string[] = await readdir(folder).catch(() => [])
  const kept: readonly string[] = current !== undefined && names.includes(current) ? [CURRENT, current] : []
  await Promise.all(
    names.filter((name) => !kept.includes(name)).map((name) => removeTree(join(folder, name))),
  )
}

/** Removes a folder; what cannot be removed now is by the next that tidies up. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
}

/** Begins with a dot: no component can be called so. */
export const STAGING = '.staging'
const PENDING = 'pending.json'
