import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { type IgnoreRules, rulesAbove } from '../../core/hooks/search/ignore-rules.ts'

/** Bounds of one listing. */
export interface ListingOptions {
  /** Files and folders that begin with a dot, too; `.git` never. */
  hidden: boolean
  mostEntries: number
  /** When it stops with what it has; milliseconds since 1970. */
  until: number
  now(): number
}

/**
 * Files and folders (these end in `/`) below a folder, nearest first, relative to it and written with `/`; without what
 * .gitignore and the like leave out. What cannot be read is passed over, and links are not followed.
 */
export async function listFiles(
  root: string,
  options: ListingOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  const folders: Folder[] = [{ path: root, rules: await rulesAbove(root) }]
  for (const folder of folders) {
    signal.throwIfAborted()
    if (found.length >= options.mostEntries || options.now() >= options.until) break
    for (const entry of await readFolder(folder, options.hidden)) {
      const shown = relative(root, entry.path).split(sep).join('/')
      found.push(entry.isFolder ? `${shown}/` : shown)
      if (entry.isFolder) folders.push(entry)
    }
  }
  return found.slice(0, options.mostEntries)
}

interface Folder {
  path: string
  /** Those from above it. */
  rules: IgnoreRules
}

interface Entry extends Folder {
  isFolder: boolean
}

async function readFolder({ path: folder, rules: known }: Folder, hidden: boolean): Promise<Entry[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []) // passed over, as promised
  const rules = await known.enter(folder, new Set(entries.map(({ name }) => name)))
  return entries
    .filter(({ name }) => name !== '.git' && (hidden || !name.startsWith('.')))
    .map((entry) => ({ path: join(folder, entry.name), isFolder: entry.isDirectory(), rules }))
    .filter(({ path, isFolder }) => !rules.ignores(path, isFolder))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
