import { type CrabError, toCrabError } from '../../core/base/errors.ts'
import { folderOf } from './installed.ts'
import { changing, type PackagePorts } from './ports.ts'
import { switchTo, tidy } from './version-folders.ts'
import { forgetWayBack, namesOnTrial, readWayBack, versionOfFolder } from './way-back.ts'

/** A component that has gone back from a version that was being tried when whoever tried it died. */
export interface CutOff {
  name: string
  tried: string
  /** That counts again. */
  version: string
  /** Its service was started anew with it. */
  wasRestarted: boolean
  /** Why that is not ready, either. */
  failure?: CrabError
}

type CutOffPorts = Pick<PackagePorts, 'paths' | 'platform' | 'services' | 'lock' | 'isLocked'>

/** Goes back from all trials that were cut off; what is being tried now is left alone. Fails with `storage`, and as services do. */
export async function endCutOffTrials(ports: CutOffPorts, signal: AbortSignal): Promise<CutOff[]> {
  const ended: CutOff[] = []
  for (const name of namesOnTrial(ports.paths)) {
    if (await ports.isLocked(changing(name))) continue
    await using _ = await ports.lock(changing(name), signal)
    ended.push(...(await goBackFromCutOff(name, ports, signal)))
  }
  return ended
}

/**
 * Goes back where a trial was cut off, as whoever has the right to change the component. The note goes last: who dies here
 * leaves it to the next. Whether the service starts is told and no failure.
 */
export async function goBackFromCutOff(
  name: string,
  { paths, platform, services }: Pick<PackagePorts, 'paths' | 'platform' | 'services'>,
  signal: AbortSignal,
): Promise<[CutOff] | []> {
  const folder = folderOf(paths, name)
  const way = await readWayBack(folder)
  if (!way) {
    await forgetWayBack(folder)
    return []
  }
  await switchTo(folder, way.back, platform)
  // It ran when the trial began; who has stopped it since wants it to rest, and what was tried may have failed for good.
  const wasRestarted = (await services.isRunning(name, signal)) || (await services.hasFailed(name, signal))
  const failure = wasRestarted ? await restart(name, services, signal) : undefined
  signal.throwIfAborted()
  await forgetWayBack(folder)
  await tidy(folder)
  const [tried, version] = [versionOfFolder(way.tried), versionOfFolder(way.back)]
  return [{ name, tried, version, wasRestarted, ...(failure && { failure }) }]
}

/**
 * Has the version before count again where a trial was cut off, before something starts the services of a home. The note
 * stays: what was tried may still run somewhere, and the next who looks ends it.
 */
export async function countBack(
  { paths, platform }: Pick<PackagePorts, 'paths' | 'platform'>,
  isLocked: PackagePorts['isLocked'],
): Promise<void> {
  for (const name of namesOnTrial(paths)) {
    const folder = folderOf(paths, name)
    const way = (await isLocked(changing(name))) ? undefined : await readWayBack(folder)
    if (way) await switchTo(folder, way.back, platform)
  }
}

async function restart(
  name: string,
  services: PackagePorts['services'],
  signal: AbortSignal,
): Promise<CrabError | undefined> {
  return await services.restart(name, signal).then(() => undefined, toCrabError)
}
