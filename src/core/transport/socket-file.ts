import type { BigIntStats } from 'node:fs'
import { chmod, link, lstat, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { isMissingFile, makePrivateDir } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'
import { getErrorCode } from '../base/system-error.ts'
import { connectEndpoint, isNotListening } from './connect.ts'

const ATTEMPTS = 5
/** The time within which a live server accepts; one that takes longer still counts as alive. */
const ANSWER_MS = 2000

/**
 * Binds a Unix socket and puts it at its path with mode 0600, creating missing folders with mode 0700. The
 * function it returns removes the socket if it is still the same one.
 *
 * The server binds to another name in the same folder, and the socket is then linked to its path. That way no
 * client connects before its mode is set, exactly one of several servers gets the path, and a closing server
 * removes the name it was bound to (as Node does), never a successor's socket. A stale socket is replaced.
 * Throws `conflict` when a server answers, when the socket belongs to another user, or when the file is not a
 * socket.
 */
export async function claimSocket(
  path: string,
  bind: (path: string) => Promise<void>,
): Promise<() => Promise<void>> {
  await makePrivateDir(dirname(path))
  const temporary = join(dirname(path), `.${newUlid().slice(-10)}`) // not longer than crabtalk.sock
  await bind(temporary)
  try {
    await removeStale(path, temporary)
    await chmod(temporary, 0o600)
    await linkTo(path, temporary)
  } finally {
    await rm(temporary, { force: true })
  }
  const ours = await statIfPresent(path)
  return async () => {
    if (isSame(ours, await statIfPresent(path))) await rm(path, { force: true })
  }
}

async function linkTo(path: string, temporary: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await link(temporary, path)
    } catch (reason) {
      if (getErrorCode(reason) !== 'EEXIST' && (await statIfPresent(path)) === undefined)
        return await rename(temporary, path) // the file system has no hard links
      if (attempt === ATTEMPTS) throw reason
    }
    await removeStale(path, temporary)
  }
}

/**
 * Removes a socket without a server. `own` is a socket of this process, which tells the user id: sockets of
 * other users are not trusted.
 */
async function removeStale(path: string, own: string): Promise<void> {
  const found = await statIfPresent(path)
  if (found === undefined) return
  const what = `Cannot listen on ${path}`
  if (!found.isSocket()) {
    throw new CrabError('conflict', `${what}: a file that is not a socket is in the way`, {
      hint: 'move that file away',
    })
  }
  const uid = (await statIfPresent(own))?.uid
  if (found.uid !== uid) {
    throw new CrabError('conflict', `${what}: the socket belongs to another user (uid ${found.uid})`, {
      hint: `remove it, or set XDG_RUNTIME_DIR or CRABTALK_HOME to a directory of your own`,
    })
  }
  if (await isAnswered(path)) {
    throw new CrabError('conflict', `${what}: a daemon is already listening there`, {
      hint: 'stop it with crabtalk daemon stop',
    })
  }
  if (isSame(found, await statIfPresent(path))) await rm(path, { force: true })
}

async function isAnswered(path: string): Promise<boolean> {
  try {
    const socket = await connectEndpoint({ kind: 'unix', path }, AbortSignal.timeout(ANSWER_MS))
    socket.destroy()
    return true
  } catch (reason) {
    return !isNotListening(reason)
  }
}

async function statIfPresent(path: string): Promise<BigIntStats | undefined> {
  return await lstat(path, { bigint: true }).catch((reason: unknown) => {
    if (isMissingFile(reason)) return undefined
    throw reason
  })
}

/** Compares birth times too, because inode numbers are reused. */
function isSame(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev && a?.birthtimeNs === b?.birthtimeNs
}
