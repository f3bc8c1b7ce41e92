import type { ProcessFamily } from '../../core/process/process-table.ts'
import type { Probe } from '../probe.ts'
import type { ManagerKind, ServiceStatus } from '../types.ts'

/**
 * How a service stands. `degraded`: it runs and does not answer; `crashed`: it ended by itself; `foreign`: something else
 * answers in its place; `stale`: only a file is left of it.
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

/** What is known of a service from three sides. */
export interface ServiceObservation {
  /** What the service manager says; absent where it cannot be asked. */
  status: ServiceStatus | undefined
  probe: Probe
  /** The process of the status, as the system lists it. */
  family: ProcessFamily | undefined
  /** Whether anything can start at login here. */
  hasLogin: boolean
  now: number
}

/** The state of a service, and what there is to say of it: the end of a sentence. */
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
      return { state: 'degraded', detail: 'it is ending' }
    case 'waiting':
      return {
        state: 'crashed',
        detail: `${describeLastExit(status)}${formatStarts(status)}, and is started again`,
      }
    case 'failed':
      return { state: 'crashed', detail: `${describeLastExit(status)}${formatStarts(status)}` }
    default:
      if (probe.problem !== undefined) return { state: 'degraded', detail: probe.problem }
      if (status?.isLost) return { state: 'crashed' } // a note says that nothing starts it again
      if (probe.pid !== undefined) return { state: 'starting' }
      return restState({ status, probe, hasLogin })
  }
}

/**
 * Whether it ended over a wrong configuration, or may have: what launchd runs has no exit code for that, and a job that
 * somebody ended is not there any more.
 */
export function mayBeConfig(status: ServiceStatus | undefined, kind: ManagerKind): boolean {
  if (status?.lastExit?.code === CONFIG_EXIT) return true
  return kind === 'launchd' && status?.state === 'stopped' && status.lastExit?.code === 0
}

/** Whether a service manager keeps it running, or tries to. */
export function isKeptAlive(status: ServiceStatus | undefined): boolean {
  return status !== undefined && WANTED.has(status.state)
}

function restState({ status, probe, hasLogin }: Pick<ServiceObservation, 'status' | 'probe' | 'hasLogin'>): {
  state: ServiceState
} {
  if (probe.leftover) return { state: 'stale' }
  return { state: hasLogin && status?.isInstalled && !status.isEnabled ? 'disabled' : 'stopped' }
}

/** Who answers instead of the process that the service manager runs, or tries to run. */
function otherProcess({
  status,
  probe,
  family,
}: Omit<ServiceObservation, 'now' | 'hasLogin'>): string | undefined {
  if (!isKeptAlive(status) || probe.pid === undefined) return undefined
  if (probe.pid === status?.pid || family?.pids.includes(probe.pid)) return undefined
  if (status?.state === 'starting' && status.pid === undefined) return undefined // nothing could be written down of it
  const own = status?.pid === undefined ? 'the service does not run' : `the service is process ${status.pid}`
  return `process ${probe.pid} answers in its place; ${own}`
}

/** How its last run ended, as `exit 78` or `SIGKILL`. */
export function describeLastExit({ lastExit }: Pick<ServiceStatus, 'lastExit'>): string {
  if (lastExit?.signal) return lastExit.signal
  return lastExit?.code === null || lastExit?.code === undefined ? 'it ended' : `exit ${lastExit.code}`
}

function formatStarts({ restarts }: ServiceStatus): string {
  return restarts === undefined ? '' : `, ${Math.min(restarts + 1, MOST_STARTS)} of ${MOST_STARTS}`
}

function withDetail(state: ServiceState, detail: string | undefined) {
  return { state, ...(detail !== undefined && { detail }) }
}

const WANTED: ReadonlySet<ServiceStatus['state']> = new Set(['running', 'starting', 'waiting', 'failed'])
/** How a service ends whose configuration is wrong; it is not started again. */
export const CONFIG_EXIT = 78
/** Until then it need not answer. */
const STARTING_MS = 15_000
/** In 300 s; then it is not started again. */
const MOST_STARTS = 10
