import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { replaceFile, syncDir } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'

/** A pending rollback; both fields are names of version folders. */
export interface RollbackRecord {
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
export function isOnTrial(folder: string): boolean {
  return existsSync(join(folder, PENDING))
}

/** Lists the names of the components on trial. */
export function listTrials({ packages }: Pick<HomePaths, 'packages'>): string[] {
  try {
    return readdirSync(packages).filter((name) => isOnTrial(join(packages, name)))
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
  if (!isOnTrial(folder)) return
  await rm(join(folder, PENDING), { force: true })
  await syncDir(folder)
}

/** Returns the version of a folder name: a version that was pulled again has a numeric suffix. */
export function parseFolderVersion(name: string): string {
  return name.replace(/_\d+$/, '')
}

const PENDING = 'pending.json'
