import { join } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { PackageFacts } from './facts.ts'
import { install } from './install.ts'
import { folderOf, type InstalledService, installedService, installedServices } from './installed.ts'
import type { Npm } from './npm.ts'
import type { PackagePorts, Pulled } from './ports.ts'
import { chooseBin } from './program-of.ts'
import { fetchPackage, lookUp, type PackageSource, takePackage } from './source.ts'
import {
  currentVersion,
  forgetWayBack,
  isOnTrial,
  moveIn,
  noteWayBack,
  openStaging,
  removeTree,
  switchTo,
  tidy,
} from './version-folders.ts'
import { isKnownPackage, serviceNameOf, type Wanted } from './wanted.ts'

/**
 * Installs a package, or another version of one, in a folder of its own, and switches to it at once when it is whole
 * (decision 27). No script of it runs. Its service, where it runs, is started anew; when it is not ready in time the
 * version before comes back, and that is an `unavailable` failure. Whoever dies in between leaves the version before.
 */
export async function pull(wanted: Wanted, ports: PackagePorts, signal: AbortSignal): Promise<Pulled> {
  const npm = await ports.npm()
  await using staging = await openStaging(ports.paths, ports.pid)
  const source = await bring(wanted, { npm, folder: staging.path, ports }, signal)
  if ('isSame' in source) return source
  const { manifest, facts } = source
  const name = serviceNameOf(manifest, ports.reserved)
  const before = installedService(ports.paths, name)
  refuseOther(before, facts.package, name)
  chooseBin(manifest, name)
  await ports.consent({ name, ...source, before, isTrusted: isTrusted(before, source) }, signal)
  ports.step(`Installing ${facts.package} ${facts.version}`)
  const prefix = join(staging.path, 'prefix')
  await install({ npm, source, prefix, name, ports }, signal)
  return await activate({ name, prefix, source, ports }, signal)
}

/** The package as a tarball that lies here, or that the version of the registry is installed. */
async function bring(
  wanted: Wanted,
  at: { npm: Npm; folder: string; ports: PackagePorts },
  signal: AbortSignal,
): Promise<PackageSource | Pulled> {
  const { npm, folder, ports } = at
  if (wanted.kind !== 'registry') {
    ports.step(`Reading ${wanted.path}`)
    return await takePackage(wanted, { npm, folder }, signal)
  }
  ports.step(`Looking up ${wanted.package}`)
  const known = await lookUp(wanted, npm, signal)
  const before = installedServices(ports.paths).find((one) => one.package === known.package)
  const isSettled = before !== undefined && !isOnTrial(folderOf(ports.paths, before.name))
  if (isSettled && isSame(before, { facts: known, origin: 'registry' })) {
    return toPulled(before.name, known, { before: known.version, isSame: true })
  }
  ports.step(`Fetching ${known.package} ${known.version}`)
  return await fetchPackage(wanted, { known, npm, folder }, signal)
}

interface Made {
  name: string
  /** Where it is installed, whole. */
  prefix: string
  source: PackageSource
  ports: PackagePorts
}

/** One at a time: what others pulled meanwhile is there to go back to. */
async function activate({ name, prefix, source, ports }: Made, signal: AbortSignal): Promise<Pulled> {
  const { paths, platform, services } = ports
  await using _ = await ports.lock(`package:${name}`, signal)
  const folder = folderOf(paths, name)
  const wasCutOff = isOnTrial(folder) // who tried it has died: a service still runs what is no more
  await tidy(folder, platform)
  const before = installedService(paths, name)
  refuseOther(before, source.facts.package, name)
  if (isSame(before, source)) {
    const wasRestarted = wasCutOff && (await services.isRunning(name, signal))
    if (wasRestarted) await services.restart(name, signal)
    return toPulled(name, source.facts, { before: before?.version, isSame: true, wasRestarted })
  }
  const old = await currentVersion(folder)
  const fresh = await moveIn(prefix, folder, source.facts.version)
  const runs = old !== undefined && (await services.isRunning(name, signal))
  if (old !== undefined && runs) await noteWayBack(folder, old)
  await switchTo(folder, fresh, platform)
  if (old !== undefined && runs) {
    ports.step(`Restarting ${name} with ${source.facts.version}`)
    await services.restart(name, signal).catch(async (reason: unknown) => {
      throw await goBack({ name, folder, old, fresh, source, ports }, reason)
    })
    await forgetWayBack(folder)
  }
  if (old !== undefined) await removeTree(join(folder, old))
  return toPulled(name, source.facts, { before: before?.version, wasRestarted: runs })
}

/** Brings the version before back; gives the failure to report. */
async function goBack(
  at: {
    name: string
    folder: string
    old: string
    fresh: string
    source: PackageSource
    ports: PackagePorts
  },
  reason: unknown,
): Promise<CrabError> {
  const { name, folder, old, fresh, source, ports } = at
  const failure = toCrabError(reason)
  const before = old.replace(/_\d+$/, '')
  ports.step(`Going back to ${name} ${before}`)
  await switchTo(folder, old, ports.platform)
  const again = await ports.services.restart(name, AbortSignal.timeout(BACK_MS)).then(
    () => 'runs again',
    (cause: unknown) => `is back, and does not start either: ${whyOf(toCrabError(cause))}`,
  )
  await forgetWayBack(folder)
  await removeTree(join(folder, fresh))
  const what = `Cannot change ${name} to ${source.facts.version}: ${whyOf(failure)}; ${before} ${again}`
  return new CrabError(failure.kind, what, { cause: reason, ...(failure.hint && { hint: failure.hint }) })
}

/** What stands behind `Cannot …:`. */
function whyOf({ message }: CrabError): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

/** A folder or a tarball may have changed and say the same version. */
function isSame(
  before: InstalledService | undefined,
  { facts, origin }: Pick<PackageSource, 'facts' | 'origin'>,
): boolean {
  return before?.version === facts.version && before.origin === 'registry' && origin === 'registry'
}

function isTrusted(before: InstalledService | undefined, { facts, origin }: PackageSource): boolean {
  if (origin !== 'registry') return false
  return isKnownPackage(facts.package) || (before?.origin === origin && before.publisher === facts.publisher)
}

function refuseOther(before: InstalledService | undefined, packageName: string, name: string): void {
  if (before === undefined || before.package === packageName) return
  throw new CrabError('conflict', `Cannot pull ${packageName}: ${name} is ${before.package} here`, {
    hint: `crabup rm ${name} makes room for it`,
  })
}

function toPulled(name: string, facts: PackageFacts, how: Partial<Pulled>): Pulled {
  const { package: packageName, version } = facts
  return {
    name,
    package: packageName,
    version,
    before: undefined,
    isSame: false,
    wasRestarted: false,
    ...how,
  }
}

const BACK_MS = 60_000
