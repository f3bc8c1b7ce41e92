import type { BigIntStats } from 'node:fs'
import { chmod, link, lstat, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { isMissingFile, makePrivateDir } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'
import { getErrorCode } from '../base/system-error.ts'
import { connectEndpoint, isNotListening } from './connect.ts'

const ATTEMPTS = 5
/** A live server accepts within this; one that takes longer is alive all the same. */
const ANSWER_MS = 2000

/**
 * Gives a Unix socket its path, mode 0600, its missing folders 0700; what is returned removes it if it is still ours.
 *
 * The server binds to another name of the same folder, and the socket is then linked to its path: nobody connects
 * before its mode is set, of several servers exactly one gets the path, and a server that closes removes (as Node does)
 * the name it was bound to, never a successor's socket. A socket that nobody answers is replaced. `conflict` when
 * a server answers, when the socket is another user's, or when the file is not a socket.
 */
export async function claimSocket(
  path: string,
  bind: (path: string) => Promise<void>,
): Promise<() => Promise<void>> {
  await makePrivateDir(dirname(path))
  const hidden = join(dirname(path), `.${newUlid().slice(-10)}`) // not longer than crabtalk.sock
  await bind(hidden)
  try {
    await removeStale(path, hidden)
    await chmod(hidden, 0o600)
    await linkTo(path, hidden)
  } finally {
    await rm(hidden, { force: true })
  }
  const ours = await statIfPresent(path)
  return async () => {
    if (isSame(ours, await statIfPresent(path))) await rm(path, { force: true })
  }
}

async function linkTo(path: string, hidden: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await link(hidden, path)
    } catch (reason) {
      if (getErrorCode(reason) !== 'EEXIST' && (await statIfPresent(path)) === undefined)
        return await rename(hidden, path) // no hard links here
      if (attempt === ATTEMPTS) throw reason
    }
    await removeStale(path, hidden)
  }
}

/** Removes a socket that has no server. `own` is a socket of this process: one of another user is not to be trusted. */
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
    throw new CrabError('conflict', `${what}: a daemon answers there`, {
      hint: 'stop it with `crabtalk daemon stop`',
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

/** Inode numbers are given away again; together with the time of birth they are not. */
function isSame(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev && a?.birthtimeNs === b?.birthtimeNs
}
