import type { ProcessFamily } from '../../core/process/process-table.ts'
import type { Probe } from '../probe/types.ts'
import type { ManagerKind, ServiceStatus } from '../types.ts'

/**
 * The state of a service. `degraded`: it runs but does not answer; `crashed`: it ended by itself; `foreign`:
 * another program answers in its place; `stale`: only a leftover file exists.
 */
export type ServiceState =
  | 'ready'
  | 'starting'
  | 'degraded'
  | 'crashed'
  | 'stopped'
  | 'disabled'
  | 'foreign'
  | 'stale'

/** The observations of a service: from its manager, from a probe and from the process table. */
export interface ServiceObservation {
  /** The status from the service manager; undefined when the query failed. */
  status: ServiceStatus | undefined
  probe: Probe
  /** The process of the status and its children, from the process table. */
  family: ProcessFamily | undefined
  /** Whether this service manager can start services at login. */
  hasLogin: boolean
  now: number
}

/** Derives the state of a service, and a detail that can end a sentence. */
export function describeState({ status, probe, family, hasLogin, now }: ServiceObservation): {
  state: ServiceState
  detail?: string
} {
  if (probe.isForeign) return withDetail('foreign', probe.problem)
  if (probe.answers) {
    const other = otherProcess({ status, probe, family })
    return other === undefined ? { state: 'ready' } : { state: 'foreign', detail: other }
  }
  const since = status?.since ?? family?.startedAt ?? probe.since
  const isYoung = since !== undefined && now - since < STARTING_MS
  switch (status?.state) {
    case 'running':
    case 'starting':
      return isYoung ? { state: 'starting' } : withDetail('degraded', probe.problem ?? 'it does not answer')
    case 'stopping':
      return { state: 'degraded', detail: 'it is stopping' }
    case 'waiting':
      return {
        state: 'crashed',
        detail: `${describeLastExit(status)}${formatStarts(status)}, and will be restarted`,
      }
    case 'failed':
      return { state: 'crashed', detail: `${describeLastExit(status)}${formatStarts(status)}` }
    default:
      if (probe.problem !== undefined) return { state: 'degraded', detail: probe.problem }
      if (status?.isLost) return { state: 'crashed' } // a note reports that nothing restarts it
      if (probe.pid !== undefined) return { state: 'starting' }
      return restState({ status, probe, hasLogin })
  }
}

/**
 * Whether the service exited because of a wrong configuration, or may have: under launchd a configuration
 * error exits with 0, and a job that the user stopped is not loaded any more.
 */
export function mayBeConfig(status: ServiceStatus | undefined, kind: ManagerKind): boolean {
  if (status?.lastExit?.code === CONFIG_EXIT) return true
  return kind === 'launchd' && status?.state === 'stopped' && status.lastExit?.code === 0
}

/** Whether a service manager keeps the service running, or is trying to. */
export function isKeptAlive(status: ServiceStatus | undefined): boolean {
  return status !== undefined && WANTED.has(status.state)
}

function restState({ status, probe, hasLogin }: Pick<ServiceObservation, 'status' | 'probe' | 'hasLogin'>): {
  state: ServiceState
} {
  if (probe.leftover) return { state: 'stale' }
  return { state: hasLogin && status?.isInstalled && !status.isEnabled ? 'disabled' : 'stopped' }
}

/** Describes the process that answers in place of the managed one; undefined when the right one answers. */
function otherProcess({
  status,
  probe,
  family,
}: Omit<ServiceObservation, 'now' | 'hasLogin'>): string | undefined {
  if (!isKeptAlive(status) || probe.pid === undefined) return undefined
  if (probe.pid === status?.pid || family?.pids.includes(probe.pid)) return undefined
  if (status?.state === 'starting' && status.pid === undefined) return undefined // its process id could not be recorded
  const own =
    status?.pid === undefined ? 'the service is not running' : `the service is process ${status.pid}`
  return `process ${probe.pid} answers in its place; ${own}`
}

/** Describes the end of the last run, such as `exit 78` or `SIGKILL`. */
export function describeLastExit({ lastExit }: Pick<ServiceStatus, 'lastExit'>): string {
  if (lastExit?.signal) return lastExit.signal
  return lastExit?.code === null || lastExit?.code === undefined ? 'it ended' : `exit ${lastExit.code}`
}

function formatStarts({ restarts }: ServiceStatus): string {
  return restarts === undefined ? '' : `, ${Math.min(restarts + 1, MAX_STARTS)} of ${MAX_STARTS}`
}

function withDetail(state: ServiceState, detail: string | undefined) {
  return { state, ...(detail !== undefined && { detail }) }
}

const WANTED: ReadonlySet<ServiceStatus['state']> = new Set(['running', 'starting', 'waiting', 'failed'])
/** The exit code of a service with a wrong configuration (EX_CONFIG); such a service is not restarted. */
export const CONFIG_EXIT = 78
/** The time a service may take to answer after its start. */
const STARTING_MS = 15_000
/** The number of starts within 300 s after which a service is no longer restarted. */
const MAX_STARTS = 10
