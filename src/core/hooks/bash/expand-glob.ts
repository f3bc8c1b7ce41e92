import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isMissing } from './own-programs.ts'

/**
 * The names that a wildcard in the last part of a path may mean, and more: whatever begins and ends as it does.
 *
 * Undefined for wildcards elsewhere, for very many names, when one of them would be an option, and where names have no
 * one spelling: those that are not UTF-8, and wildcards beside letters that some systems write in two ways.
 */
export async function expandGlob(
  word: string,
  globAt: number,
  folder: string,
): Promise<string[] | undefined> {
  const slash = word.lastIndexOf('/') + 1
  if (globAt < slash || /[^ -~]/.test(word)) return undefined
  const [head, begin] = [word.slice(0, slash), word.slice(slash, globAt)]
  const end = /[^*?\]]*$/.exec(word.slice(globAt + 1))![0]
  const names = await listNames(isAbsolute(word) ? head : `${folder}/${head}`) // `..` is for the kernel to follow
  const some = names?.filter(
    (name) => name.startsWith(begin) && name.endsWith(end) && name.startsWith('.') === begin.startsWith('.'),
  )
  if (some === undefined || some.length > MAX_NAMES) return undefined
  if (head === '' && some.some((name) => /^[-:(!]/.test(name))) return undefined
  return [word, ...some.map((name) => head + name)]
}

/** Old versions of bash take `.*` for `.` and `..`, too. */
async function listNames(folder: string): Promise<string[] | undefined> {
  try {
    const names = await readdir(folder, { encoding: 'buffer' })
    return names.every((name) => isUtf8(name)) ? [...names.map(String), '.', '..'] : undefined
  } catch (reason) {
    return isMissing(reason) ? [] : undefined
  }
}

/** Files that a wildcard may mean. */
const MAX_NAMES = 500
