import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isMissing } from '../../base/system-error.ts'
import { Doubt, showText } from '../../policy/read-only/doubt.ts'

/**
 * Expands a wildcard in the last part of a path to a superset of the names it matches: every name with the
 * same beginning and end.
 *
 * Throws a Doubt for a wildcard elsewhere, for more than 500 names, when a name would be read as an option,
 * and where names have no unique spelling: names that are not UTF-8, and wildcards next to letters that some
 * systems encode in two ways.
 */
export async function expandGlob(word: string, globAt: number, folder: string): Promise<string[]> {
  const slash = word.lastIndexOf('/') + 1
  const shown = showText(word)
  if (globAt < slash) throw new Doubt(`${shown} has a wildcard in the name of a folder`)
  if (/[^ -~]/.test(word))
    throw new Doubt(`${shown} has a wildcard next to letters that can be encoded in several ways`)
  const [head, prefix] = [word.slice(0, slash), word.slice(slash, globAt)]
  const suffix = /[^*?\]]*$/.exec(word.slice(globAt + 1))![0]
  const names = await listNames(isAbsolute(word) ? head : `${folder}/${head}`) // `..` is left for the kernel to resolve
  const some = names.filter(
    (name) =>
      name.startsWith(prefix) && name.endsWith(suffix) && name.startsWith('.') === prefix.startsWith('.'),
  )
  if (some.length > MAX_NAMES) throw new Doubt(`${shown} matches more than ${MAX_NAMES} files`)
  const option = head === '' ? some.find((name) => /^[-+:(!]/.test(name)) : undefined
  if (option !== undefined)
    throw new Doubt(`${shown} matches a file named like an option, ${showText(option)}`)
  return [word, ...some.map((name) => head + name)]
}

/** Lists a folder, including `.` and `..`, which old versions of bash match with `.*`. */
async function listNames(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder, { encoding: 'buffer' })
    const odd = names.find((name) => !isUtf8(name))
    if (odd) throw new Doubt(`the folder has a file name that is not UTF-8, ${showText(String(odd))}`)
    return [...names.map(String), '.', '..']
  } catch (reason) {
    if (isMissing(reason)) return []
    throw reason
  }
}

/** The most files that a wildcard may match. */
const MAX_NAMES = 500
