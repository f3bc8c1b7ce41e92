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
  /** Where it is installed, whole. */
  prefix: string
  source: PackageSource
  ports: PackagePorts
}

/**
 * Makes an installation the version that counts, and tries it where the service runs. One at a time: what others pulled
 * meanwhile is there to go back to.
 */
export async function activate(
  { name, prefix, source, ports }: NewInstallation,
  signal: AbortSignal,
): Promise<PullResult> {
  const { paths, platform, services } = ports
  await using _ = await ports.lock(componentLockName(name), signal)
  const folder = componentFolder(paths, name)
  const [cutOff] = await recoverUpdate(name, ports, signal) // who had the right has died meanwhile
  await pruneVersions(folder)
  const before = installedService(paths, name)
  refuseOther(before, source.facts.package, name)
  if (isSame(before, source)) {
    const wasRestarted = cutOff?.wasRestarted ?? false
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

/** Starts the service anew; where it is not ready in time the version before comes back, and the failure is thrown. */
async function tryOut(trial: Trial, signal: AbortSignal): Promise<void> {
  const { name, folder, source, ports } = trial
  ports.step(`Restarting ${name} with ${source.facts.version}`)
  await ports.services.restart(name, signal).catch(async (reason: unknown) => {
    throw await revertTrial(trial, reason)
  })
  await removeRollbackRecord(folder)
}

/** Brings the version before back; gives the failure to report. */
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

/** It is to blame where the one before starts. What comes from a file may be another one the next time. */
async function recordFailedTrial({ folder, source, ports }: Trial, failure: CrabError): Promise<void> {
  if (failure.kind !== 'unavailable' || source.origin !== 'registry') return
  const at = new Date(ports.now()).toISOString()
  await writeFailedVersion(folder, { version: source.facts.version, at, why: stripSubject(failure) })
}

/** What stands behind `Cannot …:`. */
function stripSubject({ message }: CrabError): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

const BACK_MS = 60_000
