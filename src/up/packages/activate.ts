import { join } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { goBackFromCutOff } from './cut-off.ts'
import { forgetFailed, noteFailed } from './failed-version.ts'
import { folderOf, installedService } from './installed.ts'
import { changing, type PackagePorts, type Pulled } from './ports.ts'
import { isSame, refuseOther, toPulled } from './pulled.ts'
import type { PackageSource } from './source.ts'
import { currentVersion, moveIn, removeTree, switchTo, tidy } from './version-folders.ts'
import { forgetWayBack, noteWayBack, versionOfFolder } from './way-back.ts'

interface Made {
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
export async function activate({ name, prefix, source, ports }: Made, signal: AbortSignal): Promise<Pulled> {
  const { paths, platform, services } = ports
  await using _ = await ports.lock(changing(name), signal)
  const folder = folderOf(paths, name)
  const [cutOff] = await goBackFromCutOff(name, ports, signal) // who had the right has died meanwhile
  await tidy(folder)
  const before = installedService(paths, name)
  refuseOther(before, source.facts.package, name)
  if (isSame(before, source)) {
    const wasRestarted = cutOff?.wasRestarted ?? false
    return toPulled(name, source.facts, { before: before?.version, isSame: true, wasRestarted })
  }
  const old = await currentVersion(folder)
  const fresh = await moveIn(prefix, folder, source.facts.version)
  const runs = old !== undefined && (await services.isRunning(name, signal))
  if (runs) await noteWayBack(folder, { back: old, tried: fresh })
  await switchTo(folder, fresh, platform)
  if (runs) await tryOut({ name, folder, old, fresh, source, ports }, signal)
  await forgetFailed(folder, source.facts.version)
  if (old !== undefined) await removeTree(join(folder, old))
  return toPulled(name, source.facts, { before: before?.version, wasRestarted: runs })
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
    throw await goBack(trial, reason)
  })
  await forgetWayBack(folder)
}

/** Brings the version before back; gives the failure to report. */
async function goBack(trial: Trial, reason: unknown): Promise<CrabError> {
  const { name, folder, old, fresh, source, ports } = trial
  const failure = toCrabError(reason)
  const before = versionOfFolder(old)
  ports.step(`Going back to ${name} ${before}`)
  await switchTo(folder, old, ports.platform)
  const problem = await ports.services.restart(name, AbortSignal.timeout(BACK_MS)).then(
    () => undefined,
    (cause: unknown) => whyOf(toCrabError(cause)),
  )
  if (problem === undefined) await noteGuilty(trial, failure)
  await forgetWayBack(folder)
  await removeTree(join(folder, fresh))
  const again = problem === undefined ? 'runs again' : `is back, and does not start either: ${problem}`
  const what = `Cannot change ${name} to ${source.facts.version}: ${whyOf(failure)}; ${before} ${again}`
  return new CrabError(failure.kind, what, { cause: reason, ...(failure.hint && { hint: failure.hint }) })
}

/** It is to blame where the one before starts. What comes from a file may be another one the next time. */
async function noteGuilty({ folder, source, ports }: Trial, failure: CrabError): Promise<void> {
  if (failure.kind !== 'unavailable' || source.origin !== 'registry') return
  const at = new Date(ports.now()).toISOString()
  await noteFailed(folder, { version: source.facts.version, at, why: whyOf(failure) })
}

/** What stands behind `Cannot …:`. */
function whyOf({ message }: CrabError): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

const BACK_MS = 60_000
