import { opendir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { didYouMean } from '../../config/nearest.ts'
import { openFolder } from './folder.ts'
import type { Target } from './target.ts'

/** Entries that are shown of a folder. */
const MAX_SHOWN = 30
/** Entries that are looked at. */
const MAX_SEEN = 10_000

/** What a folder holds, for a model that took it for a file; undefined when it cannot be listed. */
export async function listing(target: Target): Promise<string | undefined> {
  const names = await namesIn(target.path, target)
  if (!names) return undefined
  if (names.length === 0) return 'it is empty'
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : ''
  return `it holds ${names.toSorted().slice(0, MAX_SHOWN).map(printable).join(', ')}${more}`
}

/** Says which name a model may have meant that named a missing file, or where its path ends. */
export async function nearName(target: Target): Promise<string | undefined> {
  let [parent, name] = [dirname(target.path), basename(target.path)]
  let names = await namesIn(parent, target)
  while (!names && dirname(parent) !== parent) {
    ;[parent, name] = [dirname(parent), basename(parent)]
    names = await namesIn(parent, target)
  }
  const meant = didYouMean(name, names?.map((entry) => entry.replace(/\/$/, '')) ?? [])
  if (parent === dirname(target.path)) return meant
  return `there is no folder "${name}"${meant === undefined ? '' : `: ${meant}`}`
}

/** The names in a folder, those of folders with a slash behind; undefined when it is none or cannot be listed. */
async function namesIn(path: string, target: Target): Promise<string[] | undefined> {
  try {
    await using folder = await openFolder(path, target)
    const names: string[] = []
    for await (const entry of await opendir(folder.at('')))
      if (names.push(entry.isDirectory() ? `${entry.name}/` : entry.name) >= MAX_SEEN) break
    return names
  } catch {
    return undefined // the call fails anyway, and says why
  }
}

/** File names may hold line feeds and what a terminal obeys. */
function printable(name: string): string {
  return /^[^\p{Cc}\p{Cf},]+$/u.test(name) ? name : JSON.stringify(name)
}
