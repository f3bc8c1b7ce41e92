import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import {
  addVersion,
  clearFailedVersion,
  componentFolder,
  currentVersion,
  listTrials,
  parseFolderVersion,
  pruneVersions,
  readRollbackRecord,
  removeRollbackRecord,
  removeTree,
  switchVersion,
  writeFailedVersion,
  writeRollbackRecord,
} from './component-folder.ts'
import type { PackageFacts } from './facts.ts'
import { type InstalledService, installedService } from './installed.ts'
import { componentLockName, type PackagePorts, type PullResult } from './ports.ts'
import type { PackageSource } from './source.ts'

interface NewInstallation {
  name: string
  /** The folder of the complete installation. */
  prefix: string
  source: PackageSource
  ports: PackagePorts
}

/**
 * Makes an installation the current version of its component, and restarts the service to try it if it is
 * running. Holds the component's lock, so a version that another process pulled meanwhile is the one to roll
 * back to.
 *
 * The folder of a component moves through these states (ADR 0135); each step is one atomic change on disk:
 * - staged: the complete new version lies beside the current one;
 * - on trial: `pending.json` names the version to roll back to, `current` the one that is tried;
 * - committed: the service is ready, so the record is removed and then the old version;
 * - rolled back: the service is not ready, so `current` is the old version again, then the record is removed.
 *
 * A process that dies leaves one of these states; recoverUpdates() rolls back the trials among them.
 */
export async function activate(
  { name, prefix, source, ports }: NewInstallation,
  signal: AbortSignal,
): Promise<PullResult> {
  const { paths, platform, services } = ports
  await using _ = await ports.lock(componentLockName(name), signal)
  const folder = componentFolder(paths, name)
  // The previous holder of the lock may have died during a trial.
  const [recovered] = await recoverUpdate(name, ports, signal)
  await pruneVersions(folder)
  const before = installedService(paths, name)
  refuseOther(before, source.facts.package, name)
  if (isSame(before, source)) {
    const wasRestarted = recovered?.wasRestarted ?? false
    return toPullResult(name, source.facts, { before: before?.version, isSame: true, wasRestarted })
  }
  const old = await currentVersion(folder)
  const fresh = await addVersion(prefix, folder, source.facts.version)
  const runs = old !== undefined && (await services.isRunning(name, signal))
  if (runs) await writeRollbackRecord(folder, { back: old, tried: fresh })
  await switchVersion(folder, fresh, platform)
  if (runs) await runTrial({ name, folder, old, fresh, source, ports }, signal)
  await clearFailedVersion(folder, source.facts.version)
  if (old !== undefined) await removeTree(join(folder, old))
  return toPullResult(name, source.facts, { before: before?.version, wasRestarted: runs })
}

interface Trial {
  name: string
  folder: string
  old: string
  fresh: string
  source: PackageSource
  ports: PackagePorts
}

/** A component that was rolled back because crabup died while it tried a new version. */
export interface RecoveredUpdate {
  name: string
  tried: string
  /** The version that is current again. */
  version: string
  /** Whether its service was restarted with that version. */
  wasRestarted: boolean
  /** The reason why the service is not ready with that version either. */
  failure?: CrabError
}

type RecoverPorts = Pick<PackagePorts, 'paths' | 'platform' | 'services' | 'lock' | 'isLocked'>

/**
 * Rolls back all interrupted trials; a trial that is still running is left alone. Throws `storage`, and like
 * ServicePorts.
 */
export async function recoverUpdates(ports: RecoverPorts, signal: AbortSignal): Promise<RecoveredUpdate[]> {
  const recovered: RecoveredUpdate[] = []
  for (const name of listTrials(ports.paths)) {
    if (await ports.isLocked(componentLockName(name))) continue
    await using _ = await ports.lock(componentLockName(name), signal)
    recovered.push(...(await recoverUpdate(name, ports, signal)))
  }
  return recovered
}

/**
 * Makes the previous version current again after interrupted trials, before the services of a home are
 * started. The record stays, because the tried version may still be running somewhere; the next
 * recoverUpdate() restarts it.
 */
export async function revertTrials(
  { paths, platform }: Pick<PackagePorts, 'paths' | 'platform'>,
  isLocked: PackagePorts['isLocked'],
): Promise<void> {
  for (const name of listTrials(paths)) {
    const folder = componentFolder(paths, name)
    const record = (await isLocked(componentLockName(name))) ? undefined : await readRollbackRecord(folder)
    if (record) await switchVersion(folder, record.back, platform)
  }
}

/**
 * Whether the version is already installed completely. Only registry versions count: a folder or a tarball
 * may have changed without a new version.
 */
export function isSame(
  before: InstalledService | undefined,
  { facts, origin }: Pick<PackageSource, 'facts' | 'origin'>,
): boolean {
  if (before?.version !== facts.version || before.origin !== 'registry') return false
  return origin === 'registry' && existsSync(before.script)
}

/** Throws `conflict` when the name belongs to another package. */
export function refuseOther(before: InstalledService | undefined, packageName: string, name: string): void {
  if (before === undefined || before.package === packageName) return
  throw new CrabError(
    'conflict',
    `Cannot pull ${packageName}: the name ${name} belongs to ${before.package}`,
    {
      hint: `remove that one first: crabup rm ${name}`,
    },
  )
}

/** Builds the result of a pull; the defaults are those of a first installation. */
export function toPullResult(name: string, facts: PackageFacts, how: Partial<PullResult>): PullResult {
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

/**
 * Restarts the service. When it is not ready in time, rolls back to the previous version and throws the
 * failure.
 */
async function runTrial(trial: Trial, signal: AbortSignal): Promise<void> {
  const { name, folder, source, ports } = trial
  ports.step(`Restarting ${name} with ${source.facts.version}`)
  await ports.services.restart(name, signal).catch(async (reason: unknown) => {
    throw await rollBackTrial(trial, reason)
  })
  await removeRollbackRecord(folder)
}

/** Rolls back to the previous version; returns the error to throw. */
async function rollBackTrial(trial: Trial, reason: unknown): Promise<CrabError> {
  const { name, folder, old, fresh, source, ports } = trial
  const failure = toCrabError(reason)
  const before = parseFolderVersion(old)
  ports.step(`Rolling back to ${name} ${before}`)
  await switchVersion(folder, old, ports.platform)
  const problem = await ports.services.restart(name, AbortSignal.timeout(BACK_MS)).then(
    () => undefined,
    (cause: unknown) => stripSubject(toCrabError(cause)),
  )
  if (problem === undefined) await recordFailedTrial(trial, failure)
  await removeRollbackRecord(folder)
  await removeTree(join(folder, fresh))
  const again =
    problem === undefined ? 'runs again' : `is current again, but does not start either: ${problem}`
  const what = `Cannot change ${name} to ${source.facts.version}: ${stripSubject(failure)}; ${before} ${again}`
  return new CrabError(failure.kind, what, { cause: reason, ...(failure.hint && { hint: failure.hint }) })
}

/**
 * Records a version that fails while the previous one starts. Tarballs and folders are not recorded, because
 * they may change without a new version.
 */
async function recordFailedTrial({ folder, source, ports }: Trial, failure: CrabError): Promise<void> {
  if (failure.kind !== 'unavailable' || source.origin !== 'registry') return
  const at = new Date(ports.now()).toISOString()
  await writeFailedVersion(folder, { version: source.facts.version, at, why: stripSubject(failure) })
}

/** Strips the leading `Cannot …:` of a message. */
function stripSubject({ message }: CrabError): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

/**
 * Rolls back an interrupted trial; the caller holds the component's lock. The record is removed last, so that
 * a crash here leaves it to the next run. A service that does not start is reported in the result, not
 * thrown.
 */
async function recoverUpdate(
  name: string,
  { paths, platform, services }: Pick<PackagePorts, 'paths' | 'platform' | 'services'>,
  signal: AbortSignal,
): Promise<[RecoveredUpdate] | []> {
  const folder = componentFolder(paths, name)
  const record = await readRollbackRecord(folder)
  if (!record) {
    await removeRollbackRecord(folder)
    return []
  }
  await switchVersion(folder, record.back, platform)
  // The service was running when the trial began. If the user has stopped it since, it stays stopped; if it
  // has failed, the tried version may be the reason, so it is restarted.
  const wasRestarted = (await services.isRunning(name, signal)) || (await services.hasFailed(name, signal))
  const failure = wasRestarted ? await restart(name, services, signal) : undefined
  signal.throwIfAborted()
  await removeRollbackRecord(folder)
  await pruneVersions(folder)
  const [tried, version] = [parseFolderVersion(record.tried), parseFolderVersion(record.back)]
  return [{ name, tried, version, wasRestarted, ...(failure && { failure }) }]
}

async function restart(
  name: string,
  services: PackagePorts['services'],
  signal: AbortSignal,
): Promise<CrabError | undefined> {
  return await services.restart(name, signal).then(() => undefined, toCrabError)
}

const BACK_MS = 60_000
