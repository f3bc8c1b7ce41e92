import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { resolvePath } from '../../policy/paths.ts'

/**
 * The file that a model means by a path: as resolvePath() says, and where that is missing, one whose name is written with
 * other code points for the same accents: models compose them, and some disks and archives take them apart.
 */
export async function locate(path: string, place: { workspace: string; homeDir: string }): Promise<string> {
  const resolved = await resolvePath(path, place)
  const spelt = ASCII.test(resolved) ? resolved : await asOnDisk(resolved)
  return spelt === resolved ? resolved : await resolvePath(spelt, place) // the other name may be a link
}

const ASCII = /^\p{ASCII}*$/u

async function asOnDisk(path: string): Promise<string> {
  const folder = dirname(path)
  if (folder === path || (await isThere(path))) return path
  const parent = await asOnDisk(folder)
  const name = basename(path)
  const names = ASCII.test(name) ? [] : await readdir(parent).catch(() => []) // whoever opens the path says why
  const same = names.filter((other) => other.normalize('NFC') === name.normalize('NFC'))
  return join(parent, same.length === 1 ? same[0]! : name)
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
