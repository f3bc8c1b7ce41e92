import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { SearchScope } from './engine.ts'
import { type IgnoreRules, rulesAbove } from './ignore-rules.ts'

/** A file of a scope. */
export interface WalkedFile {
  /** Absolute. */
  path: string
  /** Below the root, written with `/`. */
  shown: string
}

/** Every file of a scope that its glob matches, folder by folder. */
export async function* walk(scope: SearchScope, signal: AbortSignal): AsyncGenerator<WalkedFile> {
  const { root, isFile, glob } = scope
  if (isFile) {
    yield { path: root, shown: basename(root) }
    return
  }
  const closed = new Set(scope.closed)
  const folders: Folder[] = [{ path: root, rules: await rulesAbove(root) }]
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    signal.throwIfAborted()
    const { files, subfolders } = await readFolder(folder, closed)
    for (const path of files) {
      const shown = relative(root, path).replaceAll(sep, '/')
      if (glob?.matches(shown) ?? true) yield { path, shown }
    }
    folders.push(...subfolders)
  }
}

interface Folder {
  path: string
  /** Those from above it. */
  rules: IgnoreRules
}

async function readFolder(
  { path: folder, rules: known }: Folder,
  closed: ReadonlySet<string>,
): Promise<{ files: string[]; subfolders: Folder[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []) // passed over, as promised
  const rules = await known.enter(folder, new Set(entries.map(({ name }) => name)))
  const files: string[] = []
  const subfolders: Folder[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory()
    if (!isFolder && !entry.isFile()) continue
    if (entry.name === '.git' || closed.has(path) || rules.ignores(path, isFolder)) continue
    if (isFolder) subfolders.push({ path, rules })
    else files.push(path)
  }
  return { files, subfolders }
}
