import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { replaceFile, syncDir } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'

/** Both are names of folders of versions. */
export interface RollbackRecord {
  /** What to go back to. */
  back: string
  /** Of which nobody knows yet that it starts. */
  tried: string
}

/** Notes the version to go back to until a new one has shown that it starts; a process that dies meanwhile leaves it to the next. */
export async function writeRollbackRecord(folder: string, way: RollbackRecord): Promise<void> {
  await replaceFile(join(folder, PENDING), `${JSON.stringify(way)}\n`)
}

/** Whether nobody knows yet that the version which counts starts: it is being tried, or who tried it died. */
export function isOnTrial(folder: string): boolean {
  return existsSync(join(folder, PENDING))
}

/** The names of the components that are on trial. */
export function listTrials({ packages }: Pick<HomePaths, 'packages'>): string[] {
  try {
    return readdirSync(packages).filter((name) => isOnTrial(join(packages, name)))
  } catch {
    return [] // nothing was ever pulled
  }
}

/** What was noted; undefined where nothing was, or there is nothing any more to go back to. */
export async function readRollbackRecord(folder: string): Promise<RollbackRecord | undefined> {
  const { back, tried } = parseObject(await readFile(join(folder, PENDING), 'utf8').catch(() => '')) ?? {}
  if (typeof back !== 'string' || basename(back) !== back) return undefined
  const isThere = await stat(join(folder, back)).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
  return isThere ? { back, tried: typeof tried === 'string' ? tried : '' } : undefined
}

/** The new version has started, or the old one is back. For good: a note that came back would lead to a folder that was removed. */
export async function removeRollbackRecord(folder: string): Promise<void> {
  if (!isOnTrial(folder)) return
  await rm(join(folder, PENDING), { force: true })
  await syncDir(folder)
}

/** The version of a folder: what is pulled again has a number behind it. */
export function parseFolderVersion(name: string): string {
  return name.replace(/_\d+$/, '')
}

const PENDING = 'pending.json'
