import { access, constants, lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { PKG_FOLDER } from '../packages/installed.ts'

/** Something in a home, and how much of the disk it takes. */
export interface HomeEntry {
  /** Relative to the home. */
  name: string
  bytes: number
  /** How many files it is. */
  files: number
}

/** Measures this program's entries in a home, the largest first. Fails with `storage` where it cannot look. */
export async function homeContent({ home, ...paths }: HomePaths): Promise<HomeEntry[]> {
  const own = Object.values(paths).map((path) => relative(home, path).split(sep)[0]!)
  const names = [...new Set(own)]
  const entries = await Promise.all(
    names.map(async (name) => ({ name, ...(await measure(join(home, name))) })),
  )
  return entries.filter(({ files }) => files > 0).toSorted((a, b) => b.bytes - a.bytes)
}

/** Why a directory cannot be emptied as a home: it, or what it is a link to, is more than that; undefined when it can. */
export async function findHomeConflict(
  { home }: Pick<HomePaths, 'home'>,
  homeDir: string,
): Promise<string | undefined> {
  const [all, own] = await Promise.all([home, homeDir].map((path) => realpath(path).catch(() => path))) // not there
  const isAbove = `${own}${sep}`.startsWith(all!.endsWith(sep) ? all! : `${all}${sep}`)
  return homeDir !== '' && isAbove ? `${home} holds more than crabtalk's data` : undefined
}

/**
 * Checks that every entry can be removed, so that a removal does not stop half way. Fails with `storage` and names the
 * directory that keeps its content: a directory of another user, or one that is not writable.
 */
export async function checkRemovable(home: string, entries: readonly HomeEntry[]): Promise<void> {
  if (entries.length > 0) await checkDirectory(home)
  for (const { name } of entries) await checkTree(join(home, name))
}

/**
 * Removes these entries of a home, links as links, and the home when it is empty then; gives what is left in it. Fails
 * with `storage` where something cannot be removed, and names it.
 */
export async function removeContent(home: string, entries: readonly HomeEntry[]): Promise<string[]> {
  for (const { name } of entries) await removeTree(join(home, name))
  const left = await list(home)
  if (left.length === 0) await rmdir(home).catch(() => undefined) // it is a link, or was never there
  return left
}

/** The names of the components below packages/. */
export async function listComponentNames(paths: Pick<HomePaths, 'packages'>): Promise<string[]> {
  return (await componentFolders(paths)).filter((name) => /^[a-z0-9]/.test(name)).toSorted()
}

/** Removes the components below packages/, and gives their names; records of skills and agents stay with these. */
export async function removeComponents({ packages }: Pick<HomePaths, 'packages'>): Promise<string[]> {
  const [components, names] = await Promise.all([
    listComponentNames({ packages }),
    componentFolders({ packages }),
  ])
  for (const name of names) await removeTree(join(packages, name))
  await rmdir(packages).catch(() => undefined) // records are in it, or there is none
  return components
}

/** With what was being installed. */
async function componentFolders({ packages }: Pick<HomePaths, 'packages'>): Promise<string[]> {
  return (await list(packages)).filter((name) => name !== PKG_FOLDER)
}

async function measure(path: string): Promise<{ bytes: number; files: number }> {
  const stats = await lstat(path).catch((reason) => orMissing(path, reason))
  if (!stats) return { bytes: 0, files: 0 }
  if (!stats.isDirectory()) return { bytes: stats.size, files: 1 }
  const parts: { bytes: number; files: number }[] = []
  for (const name of await list(path)) parts.push(await measure(join(path, name)))
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    files: parts.reduce((sum, { files }) => sum + files, 1),
  }
}

/** An empty directory needs only the right to write its parent. */
async function checkTree(path: string): Promise<void> {
  const stats = await lstat(path).catch((reason) => orMissing(path, reason))
  if (!stats?.isDirectory()) return
  const names = await list(path)
  if (names.length > 0) await checkDirectory(path)
  for (const name of names) await checkTree(join(path, name))
}

async function checkDirectory(path: string): Promise<void> {
  await access(path, constants.W_OK | constants.X_OK).catch((cause) => {
    if (isMissingFile(cause)) return
    throw new CrabError('storage', `Cannot remove what is in ${path}: it is not yours to write`, {
      cause,
      hint: `make it yours first: sudo chown -R "$(id -u)" ${quoteWord(path)}`,
    })
  })
}

async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch((reason) => {
    throw toStorageError(`Cannot remove ${errorPath(reason) ?? path}`, reason)
  })
}

/** The names in a directory; none where there is no such directory. */
async function list(path: string): Promise<string[]> {
  return (await readdir(path).catch((reason) => orMissing(path, reason))) ?? []
}

function orMissing(path: string, reason: unknown): undefined {
  if (isMissingFile(reason)) return undefined
  throw toStorageError(`Cannot look into ${path}`, reason)
}

function errorPath(reason: unknown): string | undefined {
  const { path } = (reason ?? {}) as { path?: unknown }
  return typeof path === 'string' ? path : undefined
}
