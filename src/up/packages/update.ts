import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { toFacts } from './facts.ts'
import { type FailedVersion, readFailedVersion } from './failed-version.ts'
import { componentFolder, type InstalledService, installedServices } from './installed.ts'
import type { Npm } from './npm.ts'
import type { PackagePorts } from './ports.ts'
import { compareVersions, isNpmVersion } from './version-order.ts'

/** The result of an update check for an installed component. */
export interface ComponentUpdate {
  service: InstalledService
  /** A newer version; undefined when there is none. */
  version?: string
  /** A newer version that was already tried and did not start. */
  failed?: FailedVersion
  /**
   * The reason why the check failed: the component did not come from the registry, or the registry does not
   * answer.
   */
  problem?: CrabError
}

/** Checks all components for newer versions, in order of name. A failed check does not affect the others. */
export async function findUpdates(
  ports: Pick<PackagePorts, 'paths' | 'npm' | 'step'>,
  signal: AbortSignal,
): Promise<ComponentUpdate[]> {
  const services = installedServices(ports.paths)
  if (services.length === 0) return []
  const npm = await ports.npm()
  const updates: ComponentUpdate[] = []
  for (const service of services) {
    ports.step(`Looking up ${service.package}`)
    const failed = await readFailedVersion(componentFolder(ports.paths, service.name))
    updates.push(await findUpdate({ service, failed }, npm, signal))
  }
  return updates
}

async function findUpdate(
  { service, failed }: { service: InstalledService; failed: FailedVersion | undefined },
  npm: Npm,
  signal: AbortSignal,
): Promise<ComponentUpdate> {
  if (service.origin !== 'registry') {
    return { service, problem: new CrabError('missing', `it came from ${service.source}; pull it again`) }
  }
  try {
    const { version } = toFacts(await npm.view(service.package, signal))
    if (!isNpmVersion(version) || compareVersions(version, service.version) <= 0) return { service }
    return failed?.version === version ? { service, failed } : { service, version }
  } catch (reason) {
    if (signal.aborted) throw reason
    return { service, problem: toCrabError(reason) }
  }
}
