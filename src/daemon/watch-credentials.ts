import { basename, dirname } from 'node:path'
import { readStampSync } from '../core/base/file-stamp.ts'
import { watchFolder } from '../core/base/watch-folder.ts'
import type { HomePaths } from '../core/config/paths.ts'

/**
 * Calls the listener when the user has changed the vault or `.env` of a home, until it is disposed. Their content is not
 * read: only helpers do. Tokens that are refreshed change the vault without the listener (ADR 0211).
 */
export function watchCredentials(
  { vaultChanged, dotEnv }: Pick<HomePaths, 'vaultChanged' | 'dotEnv'>,
  listener: () => void,
): Disposable {
  const files = [vaultChanged, dotEnv]
  const readStamps = () => files.map(readStampOrNone).join()
  let before = readStamps()
  return watchFolder({
    folder: dirname(dotEnv),
    isWatched: (file) => files.some((path) => basename(path) === file),
    look() {
      const stamps = readStamps()
      if (stamps === before) return
      before = stamps
      listener()
    },
  })
}

function readStampOrNone(path: string): string {
  try {
    return readStampSync(path) ?? ''
  } catch {
    return 'unreadable' // the helper that reads it says why
  }
}
