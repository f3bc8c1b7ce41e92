import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import { compareVersions, isNpmVersion } from './version-order.ts'

/** A version of the registry that was tried and did not start, while the one before did. */
export interface FailedVersion {
  version: string
  /** When it was tried, ISO 8601. */
  at: string
  /** The end of a sentence. */
  why: string
}

/** Notes it in the folder of its component, in place of the one before. */
export async function writeFailedVersion(folder: string, failed: FailedVersion): Promise<void> {
  await replaceFile(join(folder, FAILED_VERSION_FILE), `${JSON.stringify(failed)}\n`)
}

/** The one that was noted last. */
export async function readFailedVersion(folder: string): Promise<FailedVersion | undefined> {
  const { version, at, why } =
    parseObject(await readFile(join(folder, FAILED_VERSION_FILE), 'utf8').catch(() => '')) ?? {}
  const isWhole = typeof version === 'string' && typeof at === 'string' && typeof why === 'string'
  return isWhole && isNpmVersion(version) ? { version, at, why } : undefined
}

/** A version counts now: what failed and is no newer is of no interest any more. */
export async function clearFailedVersion(folder: string, version: string): Promise<void> {
  const failed = await readFailedVersion(folder)
  if (failed && compareVersions(failed.version, version) > 0) return
  await rm(join(folder, FAILED_VERSION_FILE), { force: true })
}

/** In the folder of a component. */
export const FAILED_VERSION_FILE = 'failed.json'
