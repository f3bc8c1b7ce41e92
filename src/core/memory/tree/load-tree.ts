import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { isMissingFile, toStorageError } from '../../base/files.ts'
import { MAX_CONTENT_BYTES } from '../check-entry.ts'
import type { MemoryEntry, MemoryKind } from '../types.ts'
import { parseEntryFile } from './entry-file.ts'
import { KIND_FOLDERS, SUMMARY_FILE } from './layout.ts'
import { finishDump, isLink, isMarkdown, markdownFiles, openTreeFile } from './staged-dump.ts'

/** An entry loaded from a tree. Its id is 0, because a tree has no ids. */
export type TreeEntry = Omit<MemoryEntry, 'createdAt'> & {
  /** Seconds since 1970; undefined when the file does not state it. */
  createdAt: bigint | undefined
}

/** The contents of a tree. */
export interface LoadedTree {
  /** The entries, sorted by kind, then by file name. */
  entries: TreeEntry[]
  /**
   * Markdown files in other folders of the tree, and symbolic links, which are not followed; as paths in the
   * tree.
   */
  ignored: string[]
}

/**
 * Reads a tree that dumpTree() wrote and a person may have edited. Ignores SUMMARY.md and book.toml.
 *
 * Throws `invalid`, naming the file, for a file that is not text, whose metadata is unreadable, or whose name
 * belongs to another file; `no-input` for a folder that is not such a tree; and `storage` when it cannot be
 * read.
 */
export async function loadTree(folder: string, signal: AbortSignal): Promise<LoadedTree> {
  try {
    await rejectFile(folder)
    await finishDump(folder)
    await rejectOther(folder)
    const loaded: LoadedTree = { entries: [], ignored: [] }
    const owners = new Map<string, string>()
    for (const [kind, name] of Object.entries(KIND_FOLDERS) as [MemoryKind, string][]) {
      if (await isLink(join(folder, name))) {
        loaded.ignored.push(name)
        continue
      }
      for (const file of await markdownFiles(join(folder, name))) {
        signal.throwIfAborted()
        const path = `${name}/${file}`
        if (await isLink(join(folder, path))) {
          loaded.ignored.push(path)
          continue
        }
        const entry = await readEntry(folder, { kind, path })
        claim(owners, entry, path)
        loaded.entries.push(entry)
      }
      loaded.ignored.push(...(await listNested(folder, name)))
    }
    return loaded
  } catch (reason) {
    if (signal.aborted) throw reason
    throw toStorageError(`Cannot load ${folder}`, reason)
  }
}

async function readEntry(
  folder: string,
  { kind, path }: { kind: MemoryKind; path: string },
): Promise<TreeEntry> {
  await using file = await openTreeFile(join(folder, path))
  const found = await file.stat()
  if (!found.isFile()) throw loadError(path, 'it is not a file')
  if (found.size > 2 * MAX_CONTENT_BYTES)
    throw loadError(path, `it is longer than ${MAX_CONTENT_BYTES} bytes`)
  const text = decode(await file.readFile(), path)
  try {
    const { name, createdAt, aliases, content } = parseEntryFile(text)
    const stem = path.slice(path.indexOf('/') + 1, -'.md'.length).normalize('NFC')
    const own = name ?? stem
    return { id: 0n, kind, createdAt, name: own, aliases: aliases.filter((one) => one !== own), content }
  } catch (reason) {
    throw loadError(path, (reason as Error).message, reason)
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw loadError(path, 'it is not UTF-8', cause)
  }
}

/** Checked here, although replaceEntries() checks it too, so that the error can name the file. */
function claim(owners: Map<string, string>, { name, aliases, content }: TreeEntry, path: string): void {
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    throw loadError(path, `its content is longer than ${MAX_CONTENT_BYTES} bytes`)
  }
  for (const one of [name, ...aliases]) {
    const owner = owners.get(one)
    if (one === '') throw loadError(path, 'a name in it is empty')
    if (owner !== undefined)
      throw loadError(path, `"${one}" is a name in ${owner === path ? 'it twice' : owner}`)
    owners.set(one, path)
  }
}

async function rejectFile(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (!found || found.isDirectory()) return
  throw new CrabError('no-input', `Cannot load ${folder}: it is not a folder`, {
    hint: 'crabtalk memory dump writes such a folder',
  })
}

/** Rejects a folder without any part of a tree: it is a mistake, and loading it would empty the memory. */
async function rejectOther(folder: string): Promise<void> {
  const names = await readdir(folder).catch((reason: unknown) => {
    if (!isMissingFile(reason)) throw reason
    throw new CrabError('no-input', `Cannot load ${folder}: the directory does not exist`)
  })
  const known: string[] = [SUMMARY_FILE, ...Object.values(KIND_FOLDERS)]
  if (names.some((name) => known.includes(name))) return
  throw new CrabError(
    'no-input',
    `Cannot load ${folder}: it has neither a folder notes nor a folder archives`,
    {
      hint: 'crabtalk memory dump writes such a folder',
    },
  )
}

/** Lists the Markdown files in subfolders of a kind's folder; readdir() with `recursive` would follow links. */
async function listNested(folder: string, path: string, isTop = true): Promise<string[]> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch((reason: unknown) => {
    if (!isMissingFile(reason)) throw reason
    return []
  })
  const files = entries.filter((entry) => !isTop && !entry.isDirectory() && isMarkdown(entry.name))
  const below = files.map(({ name }) => `${path}/${name}`)
  for (const entry of entries) {
    if (entry.isDirectory()) below.push(...(await listNested(folder, `${path}/${entry.name}`, false)))
  }
  return below
}

function loadError(path: string, why: string, cause?: unknown): CrabError {
  return new CrabError('invalid', `Cannot load ${path}: ${why}`, { cause })
}
