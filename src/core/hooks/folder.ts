import { constants } from 'node:fs'
import { open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getErrorCode } from '../base/system-error.ts'

/** The dependencies of opening folders. */
export interface FolderAccess {
  /**
   * The folder whose links lead to the open files of this process; on a system without one, paths are
   * compared instead.
   */
  fdLinks: string
  /** Builds the `conflict` error for a path that leads elsewhere than when it was judged. */
  moved(): Error
}

/** The location of that folder on Linux. */
export const FD_LINKS = '/proc/self/fd'

/** An open folder that was judged: replacing one of its parents does not redirect access to it. */
export interface Folder extends AsyncDisposable {
  /** Returns the path by which to reach a name in it. */
  at(name: string): string
  /**
   * Fails with `conflict` when the folder's path now leads elsewhere; does nothing where at() cannot be
   * redirected.
   */
  verify(): Promise<void>
}

/**
 * Opens a folder whose path has no links. Fails with `conflict` when the path now has links, with ENOENT
 * when it does not exist.
 *
 * On Linux every access goes through the open folder, so replacing a parent afterwards has no effect. On
 * other systems, and for a folder that may be entered but not listed, the path is compared before and after:
 * a parent that is replaced and put back within microseconds goes unnoticed.
 */
export async function openFolder(path: string, { fdLinks, moved }: FolderAccess): Promise<Folder> {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)
  const handle = await open(path, flags).catch((reason: unknown) => {
    if (getErrorCode(reason) !== 'EACCES') throw reason
  })
  if (!handle) return comparedFolder(path, moved)
  const link = `${fdLinks}/${handle.fd}`
  const leadsTo = await readlink(link).catch(() => undefined) // undefined on a system without such links
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
