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

/** A component that has gone back from a version that was being tried when whoever tried it died. */
export interface RecoveredUpdate {
  name: string
  tried: string
  /** That counts again. */
  version: string
  /** Its service was started anew with it. */
  wasRestarted: boolean
  /** Why that is not ready, either. */
  failure?: CrabError
}

type RecoverPorts = Pick<PackagePorts, 'paths' | 'platform' | 'services' | 'lock' | 'isLocked'>

/** Goes back from all trials that were cut off; what is being tried now is left alone. Fails with `storage`, and as services do. */
export async function recoverUpdates(ports: RecoverPorts, signal: AbortSignal): Promise<RecoveredUpdate[]> {
  const ended: RecoveredUpdate[] = []
  for (const name of listTrials(ports.paths)) {
    if (await ports.isLocked(componentLockName(name))) continue
    await using _ = await ports.lock(componentLockName(name), signal)
    ended.push(...(await recoverUpdate(name, ports, signal)))
  }
  return ended
}

/**
 * Goes back where a trial was cut off, as whoever has the right to change the component. The note goes last: who dies here
 * leaves it to the next. Whether the service starts is told and no failure.
 */
export async function recoverUpdate(
  name: string,
  { paths, platform, services }: Pick<PackagePorts, 'paths' | 'platform' | 'services'>,
  signal: AbortSignal,
): Promise<[RecoveredUpdate] | []> {
  const folder = componentFolder(paths, name)
  const way = await readRollbackRecord(folder)
  if (!way) {
    await removeRollbackRecord(folder)
    return []
  }
  await switchVersion(folder, way.back, platform)
  // It ran when the trial began; who has stopped it since wants it to rest, and what was tried may have failed for good.
  const wasRestarted = (await services.isRunning(name, signal)) || (await services.hasFailed(name, signal))
  const failure = wasRestarted ? await restart(name, services, signal) : undefined
  signal.throwIfAborted()
  await removeRollbackRecord(folder)
  await pruneVersions(folder)
  const [tried, version] = [parseFolderVersion(way.tried), parseFolderVersion(way.back)]
  return [{ name, tried, version, wasRestarted, ...(failure && { failure }) }]
}

/**
 * Has the version before count again where a trial was cut off, before something starts the services of a home. The note
 * stays: what was tried may still run somewhere, and the next who looks ends it.
 */
export async function countRollbacks(
  { paths, platform }: Pick<PackagePorts, 'paths' | 'platform'>,
  isLocked: PackagePorts['isLocked'],
): Promise<void> {
  for (const name of listTrials(paths)) {
    const folder = componentFolder(paths, name)
    const way = (await isLocked(componentLockName(name))) ? undefined : await readRollbackRecord(folder)
    if (way) await switchVersion(folder, way.back, platform)
  }
}

async function restart(
  name: string,
  services: PackagePorts['services'],
  signal: AbortSignal,
): Promise<CrabError | undefined> {
  return await services.restart(name, signal).then(() => undefined, toCrabError)
}
