import { basename, dirname } from 'node:path'
import { readStampSync } from '../core/base/file-stamp.ts'
import { watchFolder } from '../core/base/watch-folder.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { ProjectServerFile } from '../core/config/project-server-file.ts'
import { readServerTrust } from '../core/trust/trust-store.ts'

/** Whether the user trusts a project's file of MCP servers with that content. */
export type IsTrustedFile = (file: ProjectServerFile) => boolean

/**
 * Calls the listener when trust.toml has changed, until it is disposed. Nothing is trusted while that file cannot be
 * read. The listener must not reject.
 */
export function watchServerTrust(
  { trust }: Pick<HomePaths, 'trust'>,
  listener: (isTrusted: IsTrustedFile) => Promise<void>,
): Disposable {
  let before = readStampOrNone(trust)
  const report = async () => {
    const answers = await readServerTrust(trust).catch(() => undefined) // the next question says what is wrong with it
    await listener(({ file, sha256 }) => {
      const answer = answers?.get(file)
      return answer?.state === 'trusted' && answer.digest === sha256
    })
  }
  return watchFolder({
    folder: dirname(trust),
    isWatched: (file) => file === basename(trust),
    look() {
      const stamp = readStampOrNone(trust)
      if (stamp === before) return
      before = stamp
      void report()
    },
  })
}

function readStampOrNone(path: string): string {
  try {
    return readStampSync(path) ?? ''
  } catch {
    return 'unreadable' // what reads it says why
  }
}
