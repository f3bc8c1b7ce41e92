import { access, constants, lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { PKG_FOLDER } from '../packages/installed.ts'

/** An entry of a home and its size on disk. */
export interface HomeEntry {
  /** The path relative to the home. */
  name: string
  bytes: number
  /** The number of files in it. */
  files: number
}

/** Measures crabtalk's entries in a home, the largest first. Throws `storage` when it cannot read one. */
export async function homeContent({ home, ...paths }: HomePaths): Promise<HomeEntry[]> {
  const own = Object.values(paths).filter((path) => path.startsWith(`${home}${sep}`)) // some files are elsewhere
  const names = [...new Set(own.map((path) => relative(home, path).split(sep)[0]!))]
  const entries = await Promise.all(
    names.map(async (name) => ({ name, ...(await measure(join(home, name))) })),
  )
  return entries.filter(({ files }) => files > 0).toSorted((a, b) => b.bytes - a.bytes)
}

/**
 * Explains why a directory must not be emptied as a home: it, or the target of its link, contains the user's
 * home directory. Returns undefined when it may.
 */
export async function findHomeConflict(
  { home }: Pick<HomePaths, 'home'>,
  homeDir: string,
): Promise<string | undefined> {
  // A path that does not exist is compared as given.
  const [all, own] = await Promise.all([home, homeDir].map((path) => realpath(path).catch(() => path)))
  const isAbove = `${own}${sep}`.startsWith(all!.endsWith(sep) ? all! : `${all}${sep}`)
  return homeDir !== '' && isAbove ? `${home} holds more than crabtalk's data` : undefined
}

/**
 * Checks that every entry can be removed, so that a removal does not stop halfway. Throws `storage` and names
 * the directory that prevents it: one of another user, or one that is not writable.
 */
export async function checkRemovable(home: string, entries: readonly HomeEntry[]): Promise<void> {
  if (entries.length > 0) await checkDirectory(home)
  for (const { name } of entries) await checkTree(join(home, name))
}

/**
 * Removes entries of a home, without following links, and then the home if it is empty; returns what is left
 * in it. Throws `storage` and names what cannot be removed.
 */
export async function removeContent(home: string, entries: readonly HomeEntry[]): Promise<string[]> {
  for (const { name } of entries) await removeTree(join(home, name))
  const left = await list(home)
  if (left.length === 0) await rmdir(home).catch(() => undefined) // it is a link, or never existed
  return left
}

/** Lists the names of the components below packages/. */
export async function listComponentNames(paths: Pick<HomePaths, 'packages'>): Promise<string[]> {
  return (await componentFolders(paths)).filter((name) => /^[a-z0-9]/.test(name)).toSorted()
}

/** Removes the components below packages/ and returns their names; the records of skills and agents stay. */
export async function removeComponents({ packages }: Pick<HomePaths, 'packages'>): Promise<string[]> {
  const [components, names] = await Promise.all([
    listComponentNames({ packages }),
    componentFolders({ packages }),
  ])
  for (const name of names) await removeTree(join(packages, name))
  await rmdir(packages).catch(() => undefined) // it holds records, or does not exist
  return components
}

/** Lists the folders of components, including unfinished installations. */
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

/** Checks a tree. Removing an empty directory only requires write access to its parent. */
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
    throw new CrabError('storage', `Cannot remove the contents of ${path}: you have no write permission`, {
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

/** Lists the names in a directory; empty when it does not exist. */
async function list(path: string): Promise<string[]> {
  return (await readdir(path).catch((reason) => orMissing(path, reason))) ?? []
}

function orMissing(path: string, reason: unknown): undefined {
  if (isMissingFile(reason)) return undefined
  throw toStorageError(`Cannot read ${path}`, reason)
}

function errorPath(reason: unknown): string | undefined {
  const { path } = (reason ?? {}) as { path?: unknown }
  return typeof path === 'string' ? path : undefined
}
