import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { toStorageError } from '../../base/files.ts'
import { isInside } from '../../policy/paths.ts'
import type { Skill } from '../../skills/scan-skills.ts'
import { toPrintablePath } from '../printable-path.ts'

/**
 * Reads another file of a skill, by its path in the skill's folder; for a folder it lists the entries.
 *
 * Throws `missing` for a path outside of the skill, even through a link, and for a hidden one, because people
 * keep keys there; `invalid` for anything but a text of at most 256 KiB; `storage` when the disk fails.
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
    throw new CrabError('missing', `${what}: the skill does not have that file; its folder has ${names}`)
  }
  try {
    const stats = await stat(real)
    if (stats.isDirectory()) return await namesIn(real, root)
    const text = stats.isFile() && stats.size <= MAX_BYTES ? await readFile(real) : undefined
    if (text !== undefined && !text.includes(0)) return text.toString('utf8')
  } catch (reason) {
    throw toStorageError(what, reason)
  }
  throw new CrabError('invalid', `${what}: it is not text, or larger than ${MAX_BYTES / 1024} KiB`)
}

/** Matches a path with a name that begins with a dot, other than `.` and `..`. */
const HIDDEN = /(?:^|[\\/])\.(?!\.?(?:[\\/]|$))/
const MAX_BYTES = 256 * 1024
const MAX_NAMES = 50

/** Whether a path, links resolved, is inside the skill and not hidden. */
function mayRead(root: string, real: string): boolean {
  return isInside(root, real) && !HIDDEN.test(relative(root, real))
}

/** Lists the readable names in a folder, in one line. */
async function namesIn(folder: string, root: string): Promise<string> {
  // An unreadable folder is listed as empty.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const isReadable = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isSymbolicLink()) return !entry.name.startsWith('.')
      const real = await realpath(join(folder, entry.name)).catch(() => undefined) // a broken link
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
