import { lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { HomePaths } from '../../core/config/paths.ts'
import { BUNDLES } from '../packages/installed.ts'

/** Something in a home, and how much of the disk it takes. */
export interface HomeEntry {
  /** Relative to the home. */
  name: string
  bytes: number
  /** How many files it is. */
  files: number
}

/** What of this program is in a home, the largest first. */
export async function homeContent({ home, ...paths }: HomePaths): Promise<HomeEntry[]> {
  const own = Object.values(paths).map((path) => relative(home, path).split(sep)[0]!)
  const names = [...new Set(own)]
  const entries = await Promise.all(
    names.map(async (name) => ({ name, ...(await measure(join(home, name))) })),
  )
  return entries.filter(({ files }) => files > 0).toSorted((a, b) => b.bytes - a.bytes)
}

/** Why a directory cannot be emptied as a home: it, or what it is a link to, is more than that; undefined when it can. */
export async function notOnlyHome(
  { home }: Pick<HomePaths, 'home'>,
  homeDir: string,
): Promise<string | undefined> {
  const [all, own] = await Promise.all([home, homeDir].map((path) => realpath(path).catch(() => path))) // not there
  const isAbove = `${own}${sep}`.startsWith(all!.endsWith(sep) ? all! : `${all}${sep}`)
  return homeDir !== '' && isAbove ? `${home} holds more than crabtalk's data` : undefined
}

/** Removes these entries of a home, links as links, and the home when it is empty then; gives what is left in it. */
export async function removeContent(home: string, entries: readonly HomeEntry[]): Promise<string[]> {
  for (const { name } of entries) await rm(join(home, name), { recursive: true, force: true, maxRetries: 3 })
  const left = await readdir(home).catch(() => [])
  if (left.length === 0) await rmdir(home).catch(() => undefined) // it is a link, or was never there
  return left
}

/** The names of the components below packages/. */
export async function componentsIn(paths: Pick<HomePaths, 'packages'>): Promise<string[]> {
  return (await componentFolders(paths)).filter((name) => /^[a-z0-9]/.test(name)).toSorted()
}

/** Removes the components below packages/, and gives their names; records of skills and agents stay with these. */
export async function removeComponents({ packages }: Pick<HomePaths, 'packages'>): Promise<string[]> {
  const [components, names] = await Promise.all([componentsIn({ packages }), componentFolders({ packages })])
  for (const name of names) await rm(join(packages, name), { recursive: true, force: true, maxRetries: 3 })
  await rmdir(packages).catch(() => undefined) // records are in it, or there is none
  return components
}

/** With what was being installed. */
async function componentFolders({ packages }: Pick<HomePaths, 'packages'>): Promise<string[]> {
  return (await readdir(packages).catch(() => [])).filter((name) => name !== BUNDLES) // there are none
}

async function measure(path: string): Promise<{ bytes: number; files: number }> {
  const stats = await lstat(path).catch(() => undefined) // it is not there
  if (!stats) return { bytes: 0, files: 0 }
  if (!stats.isDirectory()) return { bytes: stats.size, files: 1 }
  const names = await readdir(path).catch(() => [])
  const parts: { bytes: number; files: number }[] = []
  for (const name of names) parts.push(await measure(join(path, name)))
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    files: parts.reduce((sum, { files }) => sum + files, 1),
  }
}
