import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import { pathToFileURL } from 'node:url'

/** The name of the asset with the program text of the search worker. */
export const SEARCH_WORKER_ASSET = 'search-worker'

/** Resolves the program of the search worker: its text in the binary, its file from source. */
export function resolveSearchWorker(): string | URL | undefined {
  if (!isSea()) return findSiblingWorker(process.argv[1] ?? '')
  return getAssetKeys().includes(SEARCH_WORKER_ASSET) ? getAsset(SEARCH_WORKER_ASSET, 'utf8') : undefined
}

/** Finds the worker's program in the source tree that a script in bin/ belongs to. */
export function findSiblingWorker(script: string): URL | undefined {
  try {
    const require = createRequire(realpathSync(script))
    return pathToFileURL(require.resolve('../src/core/session-search/background/worker-main.ts'))
  } catch {
    return undefined // the script is not in a source tree
  }
}
