import type { HomePaths } from '../core/config/paths.ts'
import type { ServiceManager, UpHost } from './types.ts'

/** What managers know of the place they work for. */
export interface ManagerPlace {
  paths: HomePaths
  /** What starts this program again, without arguments of its own: `(await host.build()).command`. */
  program: readonly [string, ...string[]]
}

/**
 * What keeps services running here: what CRABTALK_SERVICE_MANAGER names; where services of this home run under our own
 * supervisor already, that; else what the system has, and our own supervisor where it has nothing that answers. Fails
 * with `config` on a name that is none.
 */
export async function chooseManager(
  _host: UpHost,
  _place: ManagerPlace,
  _signal: AbortSignal,
): Promise<ServiceManager> {
  throw new Error('soon')
}
