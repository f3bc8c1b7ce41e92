import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isMissing } from '../../base/system-error.ts'
import { Doubt, showText } from '../../policy/read-only/doubt.ts'

/**
 * The names that a wildcard in the last part of a path may mean, and more: whatever begins and ends as it does.
 *
 * Throws a Doubt for wildcards elsewhere, for very many names, when one of them would be an option, and where names have no
 * one spelling: those that are not UTF-8, and wildcards beside letters that some systems write in two ways.
 */
export async function expandGlob(word: string, globAt: number, folder: string): Promise<string[]> {
  const slash = word.lastIndexOf('/') + 1
  const shown = showText(word)
  if (globAt < slash) throw new Doubt(`${shown} has a wildcard in the name of a folder`)
  if (/[^ -~]/.test(word))
    throw new Doubt(`${shown} has a wildcard beside letters that have several spellings`)
  const [head, begin] = [word.slice(0, slash), word.slice(slash, globAt)]
  const end = /[^*?\]]*$/.exec(word.slice(globAt + 1))![0]
  const names = await listNames(isAbsolute(word) ? head : `${folder}/${head}`) // `..` is for the kernel to follow
  const some = names.filter(
    (name) => name.startsWith(begin) && name.endsWith(end) && name.startsWith('.') === begin.startsWith('.'),
  )
  if (some.length > MAX_NAMES) throw new Doubt(`${shown} means more than ${MAX_NAMES} files`)
  const option = head === '' ? some.find((name) => /^[-+:(!]/.test(name)) : undefined
  if (option !== undefined)
    throw new Doubt(`${shown} means a file with the name of an option, ${showText(option)}`)
  return [word, ...some.map((name) => head + name)]
}

/** Old versions of bash take `.*` for `.` and `..`, too. */
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

/** Files that a wildcard may mean. */
const MAX_NAMES = 500
