import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makePrivateDir, replaceFile, syncDir, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { isRunning } from '../../core/process/signals.ts'
import type { UpHost } from '../types.ts'
import { isNpmVersion } from './npm-version.ts'

/**
 * Returns the folder of a component: it holds one folder for each version, and `current`, a link to the
 * current one.
 */
export function componentFolder({ packages }: Pick<HomePaths, 'packages'>, name: string): string {
  return join(packages, name)
}

/** The name of the link to the current version in the folder of a component. */
export const CURRENT_LINK = 'current'

/** A temporary folder below `packages/`, and so on the same disk; removed when disposed. */
interface Staging extends AsyncDisposable {
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
    throw toStorageError(`Cannot create ${path}`, reason)
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

/** A pending rollback; both fields are names of version folders. */
interface RollbackRecord {
  /** The version to roll back to. */
  back: string
  /** The version that is being tried. */
  tried: string
}

/**
 * Records the version to roll back to until the new one has started successfully. If the process dies
 * meanwhile, the next one finds the record.
 */
export async function writeRollbackRecord(folder: string, record: RollbackRecord): Promise<void> {
  await replaceFile(join(folder, PENDING), `${JSON.stringify(record)}\n`)
}

/**
 * Whether the current version has not yet started successfully: it is being tried, or the process that tried
 * it died.
 */
export function hasTrial(folder: string): boolean {
  return existsSync(join(folder, PENDING))
}

/** Lists the names of the components on trial. */
export function listTrials({ packages }: Pick<HomePaths, 'packages'>): string[] {
  try {
    return readdirSync(packages).filter((name) => hasTrial(join(packages, name)))
  } catch {
    return [] // nothing was ever pulled
  }
}

/** Reads the record; undefined when there is none, or when the version to roll back to no longer exists. */
export async function readRollbackRecord(folder: string): Promise<RollbackRecord | undefined> {
  const { back, tried } = parseObject(await readFile(join(folder, PENDING), 'utf8').catch(() => '')) ?? {}
  if (typeof back !== 'string' || basename(back) !== back) return undefined
  const isThere = await stat(join(folder, back)).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
  return isThere ? { back, tried: typeof tried === 'string' ? tried : '' } : undefined
}

/**
 * Removes the record after the new version has started or the old one is restored. The removal is synced,
 * because a record that reappeared after a crash would name a removed folder.
 */
export async function removeRollbackRecord(folder: string): Promise<void> {
  if (!hasTrial(folder)) return
  await rm(join(folder, PENDING), { force: true })
  await syncDir(folder)
}

/** Returns the version of a folder name: a version that was pulled again has a numeric suffix. */
export function parseFolderVersion(name: string): string {
  return name.replace(/_\d+$/, '')
}

/** A version from the registry that did not start when it was tried, while the previous one did. */
export interface FailedVersion {
  version: string
  /** The time of the trial, ISO 8601. */
  at: string
  /** The reason, as the end of a sentence. */
  why: string
}

/** Records a failed version in the folder of its component, replacing an earlier record. */
export async function writeFailedVersion(folder: string, failed: FailedVersion): Promise<void> {
  await replaceFile(join(folder, FAILED_VERSION_FILE), `${JSON.stringify(failed)}\n`)
}

/** Reads the recorded failed version; undefined when there is none or it is damaged. */
export async function readFailedVersion(folder: string): Promise<FailedVersion | undefined> {
  const { version, at, why } =
    parseObject(await readFile(join(folder, FAILED_VERSION_FILE), 'utf8').catch(() => '')) ?? {}
  const isWhole = typeof version === 'string' && typeof at === 'string' && typeof why === 'string'
  return isWhole && isNpmVersion(version) ? { version, at, why } : undefined
}

/** Removes the record of a failed version unless that version is newer than the one that is now current. */
export async function clearFailedVersion(folder: string, version: string): Promise<void> {
  const failed = await readFailedVersion(folder)
  if (failed && (await import('./versions.ts')).compareVersions(failed.version, version) > 0) return
  await rm(join(folder, FAILED_VERSION_FILE), { force: true })
}

/** Begins with a dot, so it cannot collide with the name of a component. */
const STAGING = '.staging'
const PENDING = 'pending.json'

/** The name of the record in the folder of a component. */
const FAILED_VERSION_FILE = 'failed.json'
