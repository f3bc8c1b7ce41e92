import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { syncDir, toStorageError } from '../../core/base/files.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { ownEnvFile } from '../own-env.ts'
import { activate, isSame, refuseOther, toPullResult } from './activate.ts'
import {
  componentFolder,
  type FailedVersion,
  hasTrial,
  openStaging,
  readFailedVersion,
} from './component-folder.ts'
import { type PackageFacts, toFacts } from './facts.ts'
import { chooseBin, install } from './install.ts'
import {
  brokenPackages,
  type InstalledService,
  installedService,
  installedServices,
  isServiceName,
} from './installed.ts'
import type { Npm } from './npm.ts'
import { isNpmVersion } from './npm-version.ts'
import { findBuiltIn, isKnownPackage, type PackageSpec, toServiceName } from './package-spec.ts'
import { componentLockName, type PackagePorts, type PullResult } from './ports.ts'
import { fetchPackage, fetchPackageFacts, type PackageSource, takePackage } from './source.ts'

/**
 * Installs a package, or another version of it, in a folder of its own, and switches to it when it is
 * complete (ADR 0135). Package scripts never run. If its service is running, it is restarted; when it is not
 * ready in time, the previous version is restored and an `unavailable` error is thrown. A process that is
 * killed in between leaves the previous version in place.
 */
export async function pullComponent(
  spec: PackageSpec,
  ports: PackagePorts,
  signal: AbortSignal,
): Promise<PullResult> {
  const npm = await ports.npm()
  await using staging = await openStaging(ports.paths, ports.pid)
  const source = await fetchSource(spec, { npm, folder: staging.path, ports }, signal)
  if ('isSame' in source) return source
  const { manifest, facts } = source
  const name = toServiceName(manifest, ports.reserved)
  const before = installedService(ports.paths, name)
  refuseOther(before, facts.package, name)
  chooseBin(manifest, name)
  await refuseOtherNode(facts, ports, signal)
  await ports.consent({ name, ...source, before, isTrusted: isTrusted(before, source) }, signal)
  ports.step(`Installing ${facts.package} ${facts.version}`)
  const prefix = join(staging.path, 'prefix')
  await install({ npm, source, prefix, name, ports }, signal)
  return await activate({ name, prefix, source, ports }, signal)
}

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

/**
 * Stops the service of a component and removes its package; `word` names either. Returns the component's
 * name. Its data elsewhere stays. Throws `missing`, and `usage` for a built-in.
 */
export async function removePackage(
  word: string,
  ports: Pick<PackagePorts, 'paths' | 'pid' | 'lock' | 'services' | 'step'>,
  signal: AbortSignal,
): Promise<string> {
  const name = resolveName(word, ports)
  await using staging = await openStaging(ports.paths, ports.pid)
  await using _ = await ports.lock(componentLockName(name), signal)
  ports.step(`Removing ${name}`)
  await ports.services.remove(name, signal)
  const folder = componentFolder(ports.paths, name)
  try {
    await stat(folder)
    await rename(folder, join(staging.path, name)) // atomic: other processes never see a part of it
    await syncDir(ports.paths.packages)
    await rm(ownEnvFile(ports.paths, name), { force: true })
  } catch (reason) {
    throw toStorageError(`Cannot remove ${name}`, reason)
  }
  return name
}

/** Returns the package as a local tarball, or the result when that registry version is already installed. */
async function fetchSource(
  spec: PackageSpec,
  at: { npm: Npm; folder: string; ports: PackagePorts },
  signal: AbortSignal,
): Promise<PackageSource | PullResult> {
  const { npm, folder, ports } = at
  if (spec.kind !== 'registry') {
    ports.step(`Reading ${spec.path}`)
    return await takePackage(spec, { npm, folder }, signal)
  }
  ports.step(`Looking up ${spec.package}`)
  const known = await fetchPackageFacts(spec, npm, signal)
  const before = installedServices(ports.paths).find((one) => one.package === known.package)
  const isSettled = before !== undefined && !hasTrial(componentFolder(ports.paths, before.name))
  if (isSettled && isSame(before, { facts: known, origin: 'registry' })) {
    return toPullResult(before.name, known, { before: known.version, isSame: true })
  }
  await refuseOtherNode(known, ports, signal)
  ports.step(`Fetching ${known.package} ${known.version}`)
  return await fetchPackage(spec, { known, npm, folder }, signal)
}

/**
 * Throws `invalid` when the package declares that it does not run on the Node of services; a range that
 * cannot be parsed is ignored.
 */
async function refuseOtherNode(
  { package: name, version, node: range }: PackageFacts,
  ports: PackagePorts,
  signal: AbortSignal,
): Promise<void> {
  if (range === undefined) return
  const { isInRange } = await import('./versions.ts')
  const node = await ports.node(signal) // a missing Node is reported when the service starts
  if (!node || isInRange(node.version, range) !== false) return
  const why = `it needs Node ${sanitize(range)}, and services run on ${node.version} (${node.path})`
  throw new CrabError('invalid', `Cannot use ${name} ${version}: ${why}`, {
    hint: 'install another Node, or choose a version that runs on this one: --version VERSION',
  })
}

function isTrusted(before: InstalledService | undefined, { facts, origin }: PackageSource): boolean {
  if (origin !== 'registry') return false
  const asksForMore = facts.variables.some((name) => !before?.variables.includes(name))
  if (isKnownPackage(facts.package)) return true
  return before?.origin === origin && before.publisher === facts.publisher && !asksForMore
}

async function findUpdate(
  { service, failed }: { service: InstalledService; failed: FailedVersion | undefined },
  npm: Npm,
  signal: AbortSignal,
): Promise<ComponentUpdate> {
  if (service.origin !== 'registry') {
    return {
      service,
      problem: new CrabError(
        'missing',
        `it was installed from ${service.source}; pull it again to update it`,
      ),
    }
  }
  try {
    const { version } = toFacts(await npm.view(service.package, signal))
    const { compareVersions } = await import('./versions.ts')
    if (!isNpmVersion(version) || compareVersions(version, service.version) <= 0) return { service }
    return failed?.version === version ? { service, failed } : { service, version }
  } catch (reason) {
    if (signal.aborted) throw reason
    return { service, problem: toCrabError(reason) }
  }
}

function resolveName(word: string, { paths }: Pick<PackagePorts, 'paths'>): string {
  const services = installedServices(paths)
  const found = services.find((one) => one.name === word || one.package === word)
  if (found) return found.name
  if (isServiceName(word) && brokenPackages(paths).includes(word)) return word
  if (findBuiltIn(word)) throw new CrabError('usage', `Cannot remove ${word}: it is built in`)
  const near = didYouMean(
    word,
    services.flatMap((one) => [one.name, one.package]),
  )
  throw new CrabError('missing', `Cannot remove ${word}: it is not installed`, {
    hint: near ?? 'crabup list shows what is installed',
  })
}
