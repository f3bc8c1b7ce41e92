import type { HomePaths } from '../../core/config/paths.ts'
import { listTrials } from './component-folder.ts'
import type { PackagePorts } from './ports.ts'

/**
 * Makes the previous versions of interrupted updates current again without restarting anything, for commands
 * that start all services of a home.
 */
export async function revertUnfinishedUpdates(
  paths: HomePaths,
  platform: PackagePorts['platform'],
): Promise<void> {
  if (listTrials(paths).length === 0) return
  const { revertTrials } = await import('./activate.ts')
  const { findSoleHolder } = await import('../../core/lease/sole-holder.ts')
  await revertTrials({ paths, platform }, async (name) => (await findSoleHolder(paths, name)) !== undefined)
}
