import { type HomePaths, homePaths } from '../core/config/paths.ts'
import type { Host } from './host.ts'

/** Where everything of this person is. Fails with `config` when there is no such place, as Host.cwd() does. */
export function resolvePaths(host: Pick<Host, 'env' | 'cwd' | 'homeDir'>): HomePaths {
  return homePaths(host.env, { cwd: host.cwd(), homeDir: host.homeDir })
}
