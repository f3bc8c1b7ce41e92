import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import { pathToFileURL } from 'node:url'

/** Name of the asset with the text of the worker's program. */
export const SEARCH_WORKER_ASSET = 'search-worker'

/** What the worker of the search runs: in the binary its text, from source its file. */
export function resolveSearchWorker(): string | URL | undefined {
  if (!isSea()) return findSiblingWorker(process.argv[1] ?? '')
  return getAssetKeys().includes(SEARCH_WORKER_ASSET) ? getAsset(SEARCH_WORKER_ASSET, 'utf8') : undefined
}

/** The worker's program of the source tree a script in bin/ belongs to. */
export function findSiblingWorker(script: string): URL | undefined {
  try {
    const require = createRequire(realpathSync(script))
    return pathToFileURL(require.resolve('../src/core/session-search/background/worker-main.ts'))
  } catch {
    return undefined // a script of another place
  }
}
