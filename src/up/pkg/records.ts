import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { isServiceName, PKG_FOLDER } from '../packages/installed.ts'

const schema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  source: z.object({
    kind: z.enum(['git', 'npm', 'tarball', 'folder']),
    /** The source as the user named it. */
    from: z.string(),
    commit: z.exactOptional(z.string()),
    publisher: z.exactOptional(z.string()),
  }),
  installedAt: z.string(),
  /** The names of folders below `skills/`. */
  skills: z.array(z.string()),
  agents: z.array(z.string()),
  /** The SHA-256 of every file as installed, by path relative to the home, with `/`. */
  files: z.record(z.string(), z.string()),
})

/** The record of an installed package and its source. */
export type PkgRecord = z.infer<typeof schema>

/** Reads the records of a home, sorted by name. The paths of unreadable records are in `broken`. */
export async function readRecords(
  paths: Pick<HomePaths, 'packages'>,
): Promise<{ records: PkgRecord[]; broken: string[] }> {
  const folder = join(paths.packages, PKG_FOLDER)
  const names = await readdir(folder).catch((reason: unknown) => {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot read ${folder}`, reason)
  })
  const records: PkgRecord[] = []
  const broken: string[] = []
  for (const file of names.filter((name) => name.endsWith('.json')).toSorted()) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '')
    const outcome = schema.safeParse(parseObject(text))
    const isWhole =
      outcome.success && `${outcome.data.name}.json` === file && isServiceName(outcome.data.name)
    if (isWhole) records.push(outcome.data)
    else broken.push(join(folder, file))
  }
  return { records, broken }
}

/** Returns the path of a package's record. */
export function packageRecordPath({ packages }: Pick<HomePaths, 'packages'>, name: string): string {
  return join(packages, PKG_FOLDER, `${name}.json`)
}
