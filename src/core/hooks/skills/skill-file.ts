import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { toStorageError } from '../../base/files.ts'
import { isInside } from '../../policy/paths.ts'
import type { Skill } from '../../skills/scan-skills.ts'
import { toPrintablePath } from '../printable-path.ts'

/**
 * What another file of a skill says, by its path in the skill's folder; of a folder what is in it.
 *
 * Throws `missing` for what lies outside of the skill, also by a link, or is hidden: people keep keys there; `invalid` for
 * what is no text of at most 256 KiB; `storage`.
 */
export async function readSkillFile(
  { name, folder }: Pick<Skill, 'name' | 'folder'>,
  file: string,
): Promise<string> {
  const what = `Cannot read ${JSON.stringify(file)} of the skill "${name}"`
  const path = resolve(folder, file)
  const [root = '', real = ''] = await Promise.all([folder, path].map((one) => realpath(one).catch(() => '')))
  if (root === '' || real === '' || !mayRead(root, real)) {
    const names = await namesIn(root === '' ? folder : root, root)
    throw new CrabError('missing', `${what}: the skill has no such file; its folder has ${names}`)
  }
  try {
    const stats = await stat(real)
    if (stats.isDirectory()) return await namesIn(real, root)
    const text = stats.isFile() && stats.size <= MAX_BYTES ? await readFile(real) : undefined
    if (text !== undefined && !text.includes(0)) return text.toString('utf8')
  } catch (reason) {
    throw toStorageError(what, reason)
  }
  throw new CrabError('invalid', `${what}: it is no text of at most ${MAX_BYTES / 1024} KiB`)
}

/** A path with a name in it that begins with a dot, as `..` does not. */
const HIDDEN = /(?:^|[\\/])\.(?!\.?(?:[\\/]|$))/
const MAX_BYTES = 256 * 1024
const MAX_NAMES = 50

/** Whether a path of which the links are resolved is inside the skill and not hidden. */
function mayRead(root: string, real: string): boolean {
  return isInside(root, real) && !HIDDEN.test(relative(root, real))
}

/** The names in a folder that can be read, as a list in a line. */
async function namesIn(folder: string, root: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []) // it says that there is nothing
  const isReadable = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isSymbolicLink()) return !entry.name.startsWith('.')
      const real = await realpath(join(folder, entry.name)).catch(() => undefined) // a link to nothing
      return !entry.name.startsWith('.') && real !== undefined && mayRead(root, real)
    }),
  )
  const names = entries
    .filter((_, at) => isReadable[at])
    .map((entry) => toPrintablePath(entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted()
  if (names.length === 0) return 'nothing'
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return `${names.slice(0, MAX_NAMES).join(', ')}${more}`
}
