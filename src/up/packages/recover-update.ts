import { type CrabError, toCrabError } from '../../core/base/errors.ts'
import { componentFolder } from './installed.ts'
import { componentLockName, type PackagePorts } from './ports.ts'
import {
  listTrials,
  parseFolderVersion,
  readRollbackRecord,
  removeRollbackRecord,
} from './rollback-record.ts'
import { pruneVersions, switchVersion } from './version-folders.ts'

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
 * Rolls back an interrupted trial; the caller holds the component's lock. The record is removed last, so that
 * a crash here leaves it to the next run. A service that does not start is reported in the result, not
 * thrown.
 */
export async function recoverUpdate(
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

/**
 * Makes the previous version current again after interrupted trials, before the services of a home are
 * started. The record stays, because the tried version may still be running somewhere; the next
 * recoverUpdate() restarts it.
 */
export async function countRollbacks(
  { paths, platform }: Pick<PackagePorts, 'paths' | 'platform'>,
  isLocked: PackagePorts['isLocked'],
): Promise<void> {
  for (const name of listTrials(paths)) {
    const folder = componentFolder(paths, name)
    const record = (await isLocked(componentLockName(name))) ? undefined : await readRollbackRecord(folder)
    if (record) await switchVersion(folder, record.back, platform)
  }
}

async function restart(
  name: string,
  services: PackagePorts['services'],
  signal: AbortSignal,
): Promise<CrabError | undefined> {
  return await services.restart(name, signal).then(() => undefined, toCrabError)
}
