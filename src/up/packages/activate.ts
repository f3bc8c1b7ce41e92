import { join } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { clearFailedVersion, writeFailedVersion } from './failed-version.ts'
import { componentFolder, installedService } from './installed.ts'
import { componentLockName, type PackagePorts, type PullResult } from './ports.ts'
import { isSame, refuseOther, toPullResult } from './pull-result.ts'
import { recoverUpdate } from './recover-update.ts'
import { parseFolderVersion, removeRollbackRecord, writeRollbackRecord } from './rollback-record.ts'
import type { PackageSource } from './source.ts'
import { addVersion, currentVersion, pruneVersions, removeTree, switchVersion } from './version-folders.ts'

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
  if (runs) await tryOut({ name, folder, old, fresh, source, ports }, signal)
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

/**
 * Restarts the service. When it is not ready in time, rolls back to the previous version and throws the
 * failure.
 */
async function tryOut(trial: Trial, signal: AbortSignal): Promise<void> {
  const { name, folder, source, ports } = trial
  ports.step(`Restarting ${name} with ${source.facts.version}`)
  await ports.services.restart(name, signal).catch(async (reason: unknown) => {
    throw await revertTrial(trial, reason)
  })
  await removeRollbackRecord(folder)
}

/** Rolls back to the previous version; returns the error to throw. */
async function revertTrial(trial: Trial, reason: unknown): Promise<CrabError> {
  const { name, folder, old, fresh, source, ports } = trial
  const failure = toCrabError(reason)
  const before = parseFolderVersion(old)
  ports.step(`Going back to ${name} ${before}`)
  await switchVersion(folder, old, ports.platform)
  const problem = await ports.services.restart(name, AbortSignal.timeout(BACK_MS)).then(
    () => undefined,
    (cause: unknown) => stripSubject(toCrabError(cause)),
  )
  if (problem === undefined) await recordFailedTrial(trial, failure)
  await removeRollbackRecord(folder)
  await removeTree(join(folder, fresh))
  const again = problem === undefined ? 'runs again' : `is back, and does not start either: ${problem}`
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

const BACK_MS = 60_000
