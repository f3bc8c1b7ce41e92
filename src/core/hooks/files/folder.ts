import { constants } from 'node:fs'
import { mkdir, open, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissingFile } from '../../base/files.ts'
import { codeOf } from '../../base/system-error.ts'
import { moved, type Target, toFileError } from './target.ts'

/** A folder that was judged, held so that nothing put in the place of its parents leads elsewhere. */
export interface Folder extends AsyncDisposable {
  /** The path by which to reach a name in it. */
  at(name: string): string
  /** Fails with `conflict` when the folder's path leads elsewhere by now; nothing to do where at() cannot be led astray. */
  verify(): Promise<void>
}

/**
 * Holds a folder whose path has no links. Fails with `conflict` when it has some by now, with ENOENT when it is not there.
 *
 * On Linux every access goes through the open folder, so a parent that is swapped afterwards changes nothing. Elsewhere,
 * and in a folder that may be entered but not listed, the path is compared before and after: whoever swaps a parent and
 * swaps it back within microseconds is not noticed.
 */
export async function openFolder(path: string, target: Target): Promise<Folder> {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)
  const handle = await open(path, flags).catch((reason: unknown) => {
    if (codeOf(reason) !== 'EACCES') throw reason
  })
  if (!handle) return comparedFolder(path, target)
  const link = `${target.fdLinks}/${handle.fd}`
  const leadsTo = await readlink(link).catch(() => undefined) // this system has no such links
  if (leadsTo === path)
    return {
      at: (name) => `${link}/${name}`,
      verify: async () => undefined,
      [Symbol.asyncDispose]: () => handle.close(),
    }
  await handle.close()
  if (leadsTo !== undefined) throw moved(target)
  return comparedFolder(path, target)
}

/** As openFolder(), but makes what is missing, readable and writable as the umask says. */
export async function makeFolder(path: string, target: Target): Promise<Folder> {
  try {
    return await openFolder(path, target)
  } catch (reason) {
    if (!isMissingFile(reason) || dirname(path) === path) throw toFileError(target, reason)
  }
  await using parent = await makeFolder(dirname(path), target)
  try {
    await mkdir(parent.at(path.slice(join(dirname(path), '/').length))).catch(unlessThere)
    await parent.verify()
    return await openFolder(path, target)
  } catch (reason) {
    throw toFileError(target, reason)
  }
}

async function comparedFolder(path: string, target: Target): Promise<Folder> {
  const identity = async () => {
    const [real, { dev, ino }] = await Promise.all([realpath(path), stat(path, { bigint: true })])
    return `${real}\0${dev}\0${ino}`
  }
  const first = await identity()
  if (!first.startsWith(`${path}\0`)) throw moved(target)
  return {
    at: (name) => join(path, name),
    async verify() {
      if ((await identity().catch(() => '')) !== first) throw moved(target)
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function unlessThere(reason: unknown): void {
  if (codeOf(reason) !== 'EEXIST') throw reason // else somebody was faster
}
