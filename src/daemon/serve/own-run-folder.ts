import { chmod, lstat } from 'node:fs/promises'
import { platform } from 'node:os'
import { CrabError } from '../../core/base/errors.ts'
import { quoteWord } from '../../core/base/quote-word.ts'

/**
 * Fails with `config` when the run folder belongs to another user, who could replace the socket, the token
 * and the leases in it. If it belongs to this user but others may write to it, removes their access. Windows
 * has no such owners.
 */
export async function requireOwnRunFolder(run: string, uid: number): Promise<void> {
  const found = await lstat(run).catch(() => undefined) // the daemon creates it, or reports why it cannot
  if (!found || platform() === 'win32') return
  if (found.uid === uid) {
    if ((found.mode & OTHERS_WRITE) !== 0) await chmod(run, 0o700)
    return
  }
  const message = `Cannot start the daemon: ${run} belongs to another user (uid ${found.uid})`
  throw new CrabError('config', message, {
    hint: `make it yours: sudo chown -R ${uid} ${quoteWord(run)}, or set CRABTALK_HOME to another directory`,
  })
}

const OTHERS_WRITE = 0o022
