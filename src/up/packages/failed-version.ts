import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import { compareVersions, isVersion } from './version-order.ts'

/** A version of the registry that was tried and did not start, while the one before did. */
export interface FailedVersion {
  version: string
  /** When it was tried, ISO 8601. */
  at: string
  /** The end of a sentence. */
  why: string
}

/** Notes it in the folder of its component, in place of the one before. */
export async function noteFailed(folder: string, failed: FailedVersion): Promise<void> {
  await replaceFile(join(folder, FAILED), `${JSON.stringify(failed)}\n`)
}

/** The one that was noted last. */
export async function readFailed(folder: string): Promise<FailedVersion | undefined> {
  const { version, at, why } = parseObject(await readFile(join(folder, FAILED), 'utf8').catch(() => '')) ?? {}
  const isWhole = typeof version === 'string' && typeof at === 'string' && typeof why === 'string'
  return isWhole && isVersion(version) ? { version, at, why } : undefined
}

/** A version counts now: what failed and is no newer is of no interest any more. */
export async function forgetFailed(folder: string, version: string): Promise<void> {
  const failed = await readFailed(folder)
  if (failed && compareVersions(failed.version, version) > 0) return
  await rm(join(folder, FAILED), { force: true })
}

/** In the folder of a component. */
export const FAILED = 'failed.json'
