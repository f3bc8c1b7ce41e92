import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { type IgnoreRules, rulesAbove } from './ignore-rules.ts'

/** The limits of one listing. */
export interface ListingOptions {
  /** Whether to include files and folders that begin with a dot; `.git` is never included. */
  hidden: boolean
  mostEntries: number
  /**
   * The time at which the listing stops with what it has, in milliseconds since the epoch. The root itself is
   * always listed.
   */
  until: number
  now(): number
}

/**
 * Lists files and folders below a folder, nearest first, as relative paths with `/` as separator; folders end
 * in `/`. Honors .gitignore and similar files, skips what cannot be read, and does not follow links.
 */
export async function listFiles(
  root: string,
  options: ListingOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  const folders: Folder[] = [{ path: root, rules: await rulesAbove(root) }]
  for (const folder of folders) {
    for (const entry of await readFolder(folder, options.hidden)) {
      const shown = relative(root, entry.path).split(sep).join('/')
      found.push(entry.isFolder ? `${shown}/` : shown)
      if (entry.isFolder) folders.push(entry)
    }
    signal.throwIfAborted()
    if (found.length >= options.mostEntries || options.now() >= options.until) break
  }
  return found.slice(0, options.mostEntries)
}

interface Folder {
  path: string
  /** The rules of the folders above. */
  rules: IgnoreRules
}

interface Entry extends Folder {
  isFolder: boolean
}

async function readFolder({ path: folder, rules: known }: Folder, hidden: boolean): Promise<Entry[]> {
  // unreadable folders are skipped
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  const rules = await known.enter(folder, new Set(entries.map(({ name }) => name)))
  return entries
    .filter(({ name }) => name !== '.git' && (hidden || !name.startsWith('.')))
    .map((entry) => ({ path: join(folder, entry.name), isFolder: entry.isDirectory(), rules }))
    .filter(({ path, isFolder }) => !rules.ignores(path, isFolder))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
