import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { FileSearchScope } from './engine.ts'
import { type IgnoreRules, rulesAbove } from './ignore-rules.ts'

/** A file of a scope. */
export interface WalkedFile {
  /** The path through which to reach it. */
  path: string
  /** The path below the root, written with `/`. */
  shown: string
}

/** Yields every file of a scope that its glob matches, folder by folder. */
export async function* walk(scope: FileSearchScope, signal: AbortSignal): AsyncGenerator<WalkedFile> {
  const { root, isFile, glob } = scope
  if (isFile) {
    yield { path: join(scope.folder, basename(root)), shown: basename(root) }
    return
  }
  const closed = new Set(scope.closed)
  const folders: Folder[] = [{ path: root, at: scope.folder, rules: await rulesAbove(root) }]
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    signal.throwIfAborted()
    const { files, subfolders } = await readFolder(folder, closed)
    for (const name of files) {
      const shown = relative(root, join(folder.path, name)).replaceAll(sep, '/')
      if (glob?.matches(shown) ?? true) yield { path: join(folder.at, name), shown }
    }
    folders.push(...subfolders)
  }
}

interface Folder {
  path: string
  /** The path through which to reach it. */
  at: string
  /** The rules inherited from its parents. */
  rules: IgnoreRules
}

async function readFolder(
  { path: folder, at, rules: known }: Folder,
  closed: ReadonlySet<string>,
): Promise<{ files: string[]; subfolders: Folder[] }> {
  // Unreadable folders are skipped, as SearchEngine promises.
  const entries = await readdir(at, { withFileTypes: true }).catch((): Dirent[] => [])
  const rules = await known.enter(folder, new Set(entries.map(({ name }) => name)))
  const files: string[] = []
  const subfolders: Folder[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory()
    if (!isFolder && !entry.isFile()) continue
    if (entry.name === '.git' || closed.has(path) || rules.ignores(path, isFolder)) continue
    if (isFolder) subfolders.push({ path, at: join(at, entry.name), rules })
    else files.push(entry.name)
  }
  return { files, subfolders }
}
