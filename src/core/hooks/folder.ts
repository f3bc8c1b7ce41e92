import { constants } from 'node:fs'
import { open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getErrorCode } from '../base/system-error.ts'

/** How a call holds folders. */
export interface FolderAccess {
  /** Folder whose links lead to the open files of this process; where there is none, paths are compared instead. */
  fdLinks: string
  /** The failure, of kind `conflict`, that a path leads elsewhere than when it was judged. */
  moved(): Error
}

/** Where Linux has such a folder. */
export const FD_LINKS = '/proc/self/fd'

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
export async function openFolder(path: string, { fdLinks, moved }: FolderAccess): Promise<Folder> {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)
  const handle = await open(path, flags).catch((reason: unknown) => {
    if (getErrorCode(reason) !== 'EACCES') throw reason
  })
  if (!handle) return comparedFolder(path, moved)
  const link = `${fdLinks}/${handle.fd}`
  const leadsTo = await readlink(link).catch(() => undefined) // this system has no such links
  if (leadsTo === path)
    return {
      at: (name) => `${link}/${name}`,
      verify: async () => undefined,
      [Symbol.asyncDispose]: () => handle.close(),
    }
  await handle.close()
  if (leadsTo !== undefined) throw moved()
  return comparedFolder(path, moved)
}

async function comparedFolder(path: string, moved: () => Error): Promise<Folder> {
  const identity = async () => {
    const [real, { dev, ino }] = await Promise.all([realpath(path), stat(path, { bigint: true })])
    return `${real}\0${dev}\0${ino}`
  }
  const first = await identity()
  if (!first.startsWith(`${path}\0`)) throw moved()
  return {
    at: (name) => join(path, name),
    async verify() {
      if ((await identity().catch(() => '')) !== first) throw moved()
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}
