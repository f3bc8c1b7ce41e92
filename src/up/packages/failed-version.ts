import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import { compareVersions, isNpmVersion } from './version-order.ts'

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
  if (failed && compareVersions(failed.version, version) > 0) return
  await rm(join(folder, FAILED_VERSION_FILE), { force: true })
}

/** The name of the record in the folder of a component. */
export const FAILED_VERSION_FILE = 'failed.json'
