import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { activate } from './activate.ts'
import type { PackageFacts } from './facts.ts'
import { install } from './install.ts'
import { componentFolder, type InstalledService, installedService, installedServices } from './installed.ts'
import { isInRange } from './node-range.ts'
import type { Npm } from './npm.ts'
import { chooseBin } from './package-program.ts'
import { isKnownPackage, type PackageSpec, toServiceName } from './package-spec.ts'
import type { PackagePorts, PullResult } from './ports.ts'
import { isSame, refuseOther, toPullResult } from './pull-result.ts'
import { isOnTrial } from './rollback-record.ts'
import { fetchPackage, fetchPackageFacts, type PackageSource, takePackage } from './source.ts'
import { openStaging } from './version-folders.ts'

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
  const isSettled = before !== undefined && !isOnTrial(componentFolder(ports.paths, before.name))
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
  const node = await ports.node(signal) // a missing Node is reported when the service starts
  if (!node || isInRange(node.version, range) !== false) return
  const why = `it needs Node ${sanitize(range)}, and services run on ${node.version} (${node.path})`
  throw new CrabError('invalid', `Cannot use ${name} ${version}: ${why}`, {
    hint: 'install another Node, or name a version that runs on this one: --version VERSION',
  })
}

function isTrusted(before: InstalledService | undefined, { facts, origin }: PackageSource): boolean {
  if (origin !== 'registry') return false
  const asksForMore = facts.variables.some((name) => !before?.variables.includes(name))
  if (isKnownPackage(facts.package)) return true
  return before?.origin === origin && before.publisher === facts.publisher && !asksForMore
}
