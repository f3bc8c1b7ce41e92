import { readdirSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import * as z from 'zod/mini'
import { parseObject } from '../../core/base/json.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { CURRENT_LINK, componentFolder } from './component-folder.ts'

/** A component that `crabup pull` installed; it runs as a service of that name. */
export interface InstalledService {
  /** The name of the component and of its port file, such as `clock`. */
  name: string
  /** The name of its npm package. */
  package: string
  version: string
  description: string
  /**
   * The absolute path of what to run. It leads through `current`, so it stays the same when the version
   * changes.
   *
   * With `runsOnNode` it is a script for the machine's `node`; otherwise it is an executable.
   */
  script: string
  runsOnNode: boolean
  /** The time of the installation, ISO 8601. */
  installedAt: string
  /** The source as the user named it: a package, a tarball or a folder. */
  source: string
  origin: 'registry' | 'tarball' | 'folder'
  /** The publisher according to the registry. */
  publisher?: string
  /** The variables of service.env that it asks for. */
  variables: readonly string[]
}

/**
 * Lists the components of a home, sorted by name. A component with an unreadable record is listed by
 * brokenPackages() instead.
 */
export function installedServices(paths: Pick<HomePaths, 'packages'>): InstalledService[] {
  return readAll(paths).flatMap(({ service }) => service ?? [])
}

/** Returns the component of that name. */
export function installedService(
  paths: Pick<HomePaths, 'packages'>,
  name: string,
): InstalledService | undefined {
  return installedServices(paths).find((service) => service.name === name)
}

/**
 * Lists the folders below `packages/` that lack a readable record, sorted by name: interrupted installations,
 * or folders changed by hand.
 */
export function brokenPackages(paths: Pick<HomePaths, 'packages'>): string[] {
  return readAll(paths).flatMap(({ name, service }) => (service ? [] : name))
}

/**
 * Whether a text can name a component: the name is also a folder, a part of the unit's name and a prefix of
 * its tools.
 */
export function isServiceName(text: string): boolean {
  return /^[a-z0-9](-?[a-z0-9]){0,31}$/.test(text) && text.length <= MAX_NAME
}

/**
 * The name of the JSON record in the folder of a version. It is written last: a version without one is
 * incomplete.
 */
export const RECORD_FILE = 'crabup.json'

/** The folder below `packages/` that holds the records of `crabup pkg`. */
export const PKG_FOLDER = 'pkg'

/** The stored description of one version of a component, in that version's folder. */
export type PackageRecord = z.infer<typeof schema>

function readAll(paths: Pick<HomePaths, 'packages'>): { name: string; service?: InstalledService }[] {
  return namesIn(paths.packages).map((name) => {
    const current = join(componentFolder(paths, name), CURRENT_LINK)
    try {
      const record = parseRecord(readFileSync(join(current, RECORD_FILE), 'utf8'))
      if (!record) return { name }
      const { script, ...rest } = record
      return { name, service: { name, ...rest, script: join(current, script) } }
    } catch {
      return { name } // brokenPackages() reports it
    }
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isServiceName(entry.name) && entry.name !== PKG_FOLDER)
      .map(({ name }) => name)
      .toSorted()
  } catch {
    return [] // the folder does not exist yet, or cannot be read
  }
}

/** Parses a record; undefined when it is not valid. */
function parseRecord(text: string): PackageRecord | undefined {
  const outcome = schema.safeParse(parseObject(text))
  return outcome.success ? outcome.data : undefined
}

const MAX_NAME = 32

const schema = z.object({
  package: z.string(),
  version: z.string(),
  description: z.string(),
  /** The path relative to the folder of the version, with `/`. */
  script: z.string().check(z.refine((path) => !isAbsolute(path) && !path.split(/[\\/]/).includes('..'))),
  runsOnNode: z.boolean(),
  installedAt: z.string(),
  source: z.string(),
  origin: z.enum(['registry', 'tarball', 'folder']),
  publisher: z.exactOptional(z.string()),
  /** Empty in records of versions that were installed before packages could ask for variables. */
  variables: z._default(z.array(z.string()), []),
})
