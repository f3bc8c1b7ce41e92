import type { Host } from '../../cli/host.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { ServiceGuardOptions } from '../../up/guard/guard.ts'
import type { RunningService } from '../../up/guard/watchdog.ts'
import { KNOWN_SERVICES, toServiceLabel } from '../../up/names.ts'
import { homeProbe } from '../../up/services/home-probe.ts'
import { listUnitNames, type ServicesContext } from '../../up/services/services-context.ts'
import { listServiceNames } from '../../up/supervisor/desired-state.ts'
import { isAlive, readRecord } from '../../up/supervisor/record.ts'

/** Returns the options of a guard for a home, except its services and its log. */
export function guardDefaults(
  host: Pick<Host, 'env' | 'uid'>,
  paths: HomePaths,
): Pick<ServiceGuardOptions, 'logs' | 'envFile' | 'probe' | 'elapsed'> {
  return {
    logs: paths.logs,
    envFile: paths.serviceEnv,
    probe: homeProbe({ paths, env: host.env, uid: host.uid }),
    elapsed: () => performance.now(),
  }
}

/**
 * Returns the running services of our own supervisor, according to its files; `only` limits them to the
 * service that it supervises.
 */
export async function supervisedServices(folder: string, only?: string): Promise<RunningService[]> {
  const names = listServiceNames(folder).desired.filter((name) => only === undefined || name === only)
  const found = await Promise.all(
    names.map(async (name) => {
      const record = readRecord(folder, name)
      const { state, pid } = record ?? {}
      if (!record || pid === undefined || state !== 'running' || !(await isAlive(record))) return []
      return [toRunning(name, pid)]
    }),
  )
  return found.flat()
}

/** Returns the running services of the system's service manager. Fails as the manager's commands do. */
export async function managedServices(
  context: ServicesContext,
  signal: AbortSignal,
): Promise<RunningService[]> {
  const names = await listUnitNames(context, signal)
  const statuses = await context.manager.status(
    names.map((name) => toServiceLabel(name, context.labels)),
    signal,
  )
  return statuses.flatMap(({ state, pid }, index) =>
    state === 'running' && pid !== undefined ? [toRunning(names[index]!, pid)] : [],
  )
}

function toRunning(name: string, pid: number): RunningService {
  return {
    name,
    pid,
    isBuiltIn: KNOWN_SERVICES.some((known) => known.name === name && known.run !== undefined),
  }
}
