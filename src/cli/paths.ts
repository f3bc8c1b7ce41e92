import { type HomePaths, homePaths } from '../core/config/paths.ts'
import type { Host } from './host.ts'

/**
 * Resolves the paths of the user's home. Fails with `config` when there is no home, and as `Host.cwd()` does.
 */
export function resolvePaths(host: Pick<Host, 'env' | 'cwd' | 'homeDir'>): HomePaths {
  return homePaths(host.env, { cwd: host.cwd(), homeDir: host.homeDir })
}
