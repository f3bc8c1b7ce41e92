import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HomePaths } from '../../core/config/paths.ts'
import { parseRecord } from './record.ts'

/** A component that `crabup pull` brought; it runs as a service of that name. */
export interface InstalledService {
  /** What people call it, and its port file: `clock`. */
  name: string
  /** The npm package it is. */
  package: string
  version: string
  description: string
  /**
   * What to run, absolute, by a path that stays when the version changes: it leads through `current`.
   *
   * With `runsOnNode` it is a script for the machine's `node`; else a program of its own.
   */
  script: string
  runsOnNode: boolean
  /** When it was installed, ISO 8601. */
  installedAt: string
  /** What it came from, as it was named: a package, a tarball, a folder. */
  source: string
  origin: 'registry' | 'tarball' | 'folder'
  /** Who published it, as the registry said. */
  publisher?: string
  /** The variables of service.env that it asks for. */
  variables: readonly string[]
}

/** Every component of a home, by name. One whose record cannot be read is not among them: brokenPackages() names it. */
export function installedServices(paths: Pick<HomePaths, 'packages'>): InstalledService[] {
  return readAll(paths).flatMap(({ service }) => service ?? [])
}

/** The component of that name. */
export function installedService(
  paths: Pick<HomePaths, 'packages'>,
  name: string,
): InstalledService | undefined {
  return installedServices(paths).find((service) => service.name === name)
}

/** The folders below `packages/` that are to be components and are none, by name: what was cut off, or changed by hand. */
export function brokenPackages(paths: Pick<HomePaths, 'packages'>): string[] {
  return readAll(paths).flatMap(({ name, service }) => (service ? [] : name))
}

/** Whether a text can name a component: it is a folder, a part of a unit's name, and what its tools are called by. */
export function isServiceName(text: string): boolean {
  return /^[a-z0-9](-?[a-z0-9]){0,31}$/.test(text) && text.length <= MAX_NAME
}

/** The folder of a component: a folder for each version, and `current`, a link to the one that counts. */
export function componentFolder({ packages }: Pick<HomePaths, 'packages'>, name: string): string {
  return join(packages, name)
}

/** In the folder of a component: the link to the version that counts. */
export const CURRENT_LINK = 'current'
/** In the folder of a version: what it is, as JSON. Written last: a version without one is not whole. */
export const RECORD_FILE = 'crabup.json'

function readAll(paths: Pick<HomePaths, 'packages'>): { name: string; service?: InstalledService }[] {
  return namesIn(paths.packages).map((name) => {
    const current = join(componentFolder(paths, name), CURRENT_LINK)
    try {
      const record = parseRecord(readFileSync(join(current, RECORD_FILE), 'utf8'))
      if (!record) return { name }
      const { script, ...rest } = record
      return { name, service: { name, ...rest, script: join(current, script) } }
    } catch {
      return { name } // brokenPackages() tells of it
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
    return [] // there is no such folder yet, or nothing can be seen in it
  }
}

const MAX_NAME = 32
/** Below `packages/`: the records of what `crabup pkg` installed. */
export const PKG_FOLDER = 'pkg'
