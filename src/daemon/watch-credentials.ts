import { dirname } from 'node:path'
import { readStampSync } from '../core/base/file-stamp.ts'
import { watchFolder } from '../core/base/watch-folder.ts'
import type { HomePaths } from '../core/config/paths.ts'

/**
 * Calls the listener when the vault or `.env` of a home has changed, until it is disposed. Their content is not read:
 * only helpers do.
 */
export function watchCredentials(
  { vault, dotEnv }: Pick<HomePaths, 'vault' | 'dotEnv'>,
  listener: () => void,
): Disposable {
  const files = [vault, dotEnv]
  const readStamps = () => files.map(readStampOrNone).join()
  let before = readStamps()
  return watchFolder({
    folder: dirname(vault),
    isWatched: (file) => files.some((path) => path.endsWith(file)),
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
