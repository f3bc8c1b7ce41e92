import { opendir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { didYouMean } from '../../base/nearest.ts'
import { openFolder } from '../folder.ts'
import { toPrintablePath } from '../printable-path.ts'
import { openProtectedPaths } from '../protected-paths.ts'
import { type FileTarget, folderAccess } from './target.ts'

/** Entries that are shown of a folder. */
const MAX_SHOWN = 30
/** Entries that are looked at. */
const MAX_SEEN = 10_000

/** What a folder holds, for a model that took it for a file; undefined when no name in it may be shown. */
export async function listing(target: FileTarget): Promise<string | undefined> {
  const entries = await listFolderNames(target.path, target)
  if (!entries) return undefined
  const { names, isEmpty } = entries
  if (names.length === 0) return isEmpty ? 'it is empty' : undefined
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : ''
  return `it holds ${names.toSorted().slice(0, MAX_SHOWN).map(toPrintablePath).join(', ')}${more}`
}

/** Says which name a model may have meant that named a missing file, or where its path ends. */
export async function suggestName(target: FileTarget): Promise<string | undefined> {
  let [parent, name] = [dirname(target.path), basename(target.path)]
  let entries = await listFolderNames(parent, target)
  while (!entries && dirname(parent) !== parent) {
    ;[parent, name] = [dirname(parent), basename(parent)]
    entries = await listFolderNames(parent, target)
  }
  const meant = didYouMean(
    name,
    entries?.names.map((entry) => toPrintablePath(entry.replace(/\/$/, ''))) ?? [],
  )
  if (parent === dirname(target.path)) return entries?.names.includes(name) ? notUtf8(name) : meant
  return `there is no folder "${name}"${meant === undefined ? '' : `: ${meant}`}`
}

/** A listed name that opens nothing has bytes that are not UTF-8: the system gives them as replacement characters. */
function notUtf8(name: string): string {
  return `the name of ${toPrintablePath(name)} is not UTF-8, and tools for files reach no such names: use bash, with ? in place of each \ufffd, or rename it`
}

interface Entries {
  /** Those that may be shown; those of folders with a slash behind. */
  names: string[]
  isEmpty: boolean
}

/** What is in a folder; undefined when it is none or cannot be listed. */
async function listFolderNames(path: string, target: FileTarget): Promise<Entries | undefined> {
  try {
    const closed = await openProtectedPaths(target.closed)
    await using folder = await openFolder(path, folderAccess(target))
    const names: string[] = []
    let seen = 0
    for await (const entry of await opendir(folder.at(''))) {
      const whole = join(path, entry.name)
      if (target.mayShow(whole) && !closed.holds(whole))
        names.push(entry.isDirectory() ? `${entry.name}/` : entry.name)
      if (++seen >= MAX_SEEN) break
    }
    return { names, isEmpty: seen === 0 }
  } catch {
    return undefined // the call fails anyway, and says why
  }
}
