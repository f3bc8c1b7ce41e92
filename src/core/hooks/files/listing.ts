import { opendir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { didYouMean } from '../../base/nearest.ts'
import { openFolder } from '../folder.ts'
import { toPrintablePath } from '../printable-path.ts'
import { openProtectedPaths } from '../protected-paths.ts'
import { type FileTarget, folderAccess } from './target.ts'

/** The most entries shown of a folder. */
const MAX_SHOWN = 30
/** The most entries examined. */
const MAX_SEEN = 10_000

/**
 * Describes the contents of a folder, for a model that took it for a file; undefined when no name in it may
 * be shown.
 */
export async function listing(target: FileTarget): Promise<string | undefined> {
  const entries = await listFolderNames(target.path, target)
  if (!entries) return undefined
  const { names, isEmpty } = entries
  if (names.length === 0) return isEmpty ? 'it is empty' : undefined
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : ''
  return `it holds ${names.toSorted().slice(0, MAX_SHOWN).map(toPrintablePath).join(', ')}${more}`
}

/**
 * Suggests the name that a model may have meant by a missing file, or says which folder of its path does not
 * exist.
 */
export async function suggestName(target: FileTarget): Promise<string | undefined> {
  let [parent, name] = [dirname(target.path), basename(target.path)]
  let entries = await listFolderNames(parent, target)
  while (!entries && dirname(parent) !== parent) {
    ;[parent, name] = [dirname(parent), basename(parent)]
    entries = await listFolderNames(parent, target)
  }
  const suggestion = didYouMean(
    name,
    entries?.names.map((entry) => toPrintablePath(entry.replace(/\/$/, ''))) ?? [],
  )
  if (parent === dirname(target.path)) return entries?.names.includes(name) ? notUtf8(name) : suggestion
  return `the folder "${name}" does not exist${suggestion === undefined ? '' : `: ${suggestion}`}`
}

/**
 * Explains a listed name that cannot be opened: its bytes are not UTF-8, and the system returns them as
 * replacement characters.
 */
function notUtf8(name: string): string {
  return `the name of ${toPrintablePath(name)} is not UTF-8, and file tools cannot open such names: use bash, with ? in place of each \ufffd, or rename it`
}

interface Entries {
  /** The names that may be shown; those of folders end with a slash. */
  names: string[]
  isEmpty: boolean
}

/** Lists a folder; undefined when the path is not a folder or cannot be listed. */
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
    return undefined // the call fails anyway, and reports why
  }
}
