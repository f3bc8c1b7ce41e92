import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { toFacts } from './facts.ts'
import { folderOf, type InstalledService, installedServices } from './installed.ts'
import type { Npm } from './npm.ts'
import type { PackagePorts } from './ports.ts'
import { isOnTrial } from './version-folders.ts'
import { compareVersions, isVersion } from './version-order.ts'

/** What the registry has for an installed component. */
export interface Update {
  service: InstalledService
  /** A newer version; undefined when there is none. */
  version?: string
  /** Why nobody can say: it did not come from the registry, or that does not answer. */
  problem?: CrabError
}

/** Looks for newer versions of all components, by name. One that cannot be looked up does not keep the others from it. */
export async function findUpdates(
  ports: Pick<PackagePorts, 'paths' | 'npm' | 'step'>,
  signal: AbortSignal,
): Promise<Update[]> {
  const services = installedServices(ports.paths)
  if (services.length === 0) return []
  const npm = await ports.npm()
  const updates: Update[] = []
  for (const service of services) {
    ports.step(`Looking up ${service.package}`)
    const onTrial = isOnTrial(folderOf(ports.paths, service.name))
    updates.push(await findUpdate({ service, onTrial }, npm, signal))
  }
  return updates
}

/** One whose trial was cut off is tried again. */
async function findUpdate(
  { service, onTrial }: { service: InstalledService; onTrial: boolean },
  npm: Npm,
  signal: AbortSignal,
): Promise<Update> {
  if (service.origin !== 'registry') {
    return { service, problem: new CrabError('missing', `it came from ${service.source}; pull it again`) }
  }
  try {
    const { version } = toFacts(await npm.view(service.package, signal))
    const isNewer = isVersion(version) && compareVersions(version, service.version) > (onTrial ? -1 : 0)
    return isNewer ? { service, version } : { service }
  } catch (reason) {
    if (signal.aborted) throw reason
    return { service, problem: toCrabError(reason) }
  }
}
