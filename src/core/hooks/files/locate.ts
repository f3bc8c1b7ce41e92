import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { resolvePath } from '../../policy/paths.ts'

/**
 * Resolves the path that a model wrote to a file: as resolvePath() does, and if that is missing, to a file
 * whose name encodes the same accents with other code points. Models compose them, and some disks and
 * archives decompose them.
 */
export async function locate(path: string, place: { workspace: string; homeDir: string }): Promise<string> {
  const resolved = await resolvePath(path, place)
  const onDisk = ASCII.test(resolved) ? resolved : await toNameOnDisk(resolved)
  return onDisk === resolved ? resolved : await resolvePath(onDisk, place) // the other name may be a link
}

const ASCII = /^\p{ASCII}*$/u

async function toNameOnDisk(path: string): Promise<string> {
  const folder = dirname(path)
  if (folder === path || (await isThere(path))) return path
  const parent = await toNameOnDisk(folder)
  const name = basename(path)
  const names = ASCII.test(name) ? [] : await readdir(parent).catch(() => []) // opening the path reports the reason
  const same = names.filter((other) => other.normalize('NFC') === name.normalize('NFC'))
  return join(parent, same.length === 1 ? same[0]! : name)
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
