import type { FileIssue } from '../../core/config/validation-issue.ts'
import { type ProcessFamily, readFamilies } from '../../core/process/process-table.ts'
import { removeStale } from '../probe/stale-files.ts'
import type { Probe, ProbeService } from '../probe/types.ts'
import type { ServiceManager, ServiceStatus } from '../types.ts'
import { collectNotes, type ServiceNote } from './notes.ts'
import { describeState, isKeptAlive, mayBeConfig, type ServiceState } from './state.ts'

/** A service to look up. */
export interface ServiceQuery {
  name: string
  label: string
  /** The version that would run after a restart; absent when unknown. */
  version?: string
  /** The reason why the service is listed although it does not exist, as the end of a sentence. */
  oddity?: string
}

/** A service as `ps` shows it. */
export interface ServiceRow {
  name: string
  label: string
  state: ServiceState
  detail?: string
  pid?: number
  /** The start time of this run, milliseconds since 1970. */
  since?: number
  /** The memory of the service and all of its child processes, in bytes. */
  memoryBytes?: number
  /** The number of its processes. */
  processes?: number
  port?: number
  /** The version of the running program. */
  version?: string
  /** The version of the installed program. */
  versionOnDisk?: string
  restarts?: number
  isInstalled: boolean
  isEnabled: boolean
  /**
   * Whether the service manager runs it or is trying to; a service that runs without being managed was
   * started another way.
   */
  isManaged: boolean
  notes: readonly ServiceNote[]
}

/** The ports of gatherRows(). */
export interface GatherPorts {
  manager: ServiceManager
  probe: ProbeService
  /** Finds the errors in the configuration. */
  findProblems(): Promise<readonly FileIssue[]>
  now(): number
  /** Returns notes about the unit of an installed service. */
  unitNotes?(name: string): Promise<readonly ServiceNote[]>
  /** Whether to keep stale files instead of removing them. */
  keepsStale?: boolean
}

/** The rows, and the error when the service manager could not be queried. */
export interface GatherResult {
  rows: readonly ServiceRow[]
  problem?: unknown
}

/** Queries the service manager, the services themselves and the system about the services, all in parallel. */
export async function gatherRows(
  queries: readonly ServiceQuery[],
  ports: GatherPorts,
  signal: AbortSignal,
): Promise<GatherResult> {
  const pendingStatuses = queryManager(
    ports.manager,
    queries.map(({ label }) => label),
    signal,
  )
  const probes = await Promise.all(queries.map(({ name }) => ports.probe(name, signal)))
  const { statuses, problem } = await pendingStatuses
  const pids = [...statuses, ...probes].flatMap(({ pid }) => pid ?? [])
  const families = await readFamilies(pids)
  const isWrong = statuses.some((status) => mayBeConfig(status, ports.manager.kind))
  const problems = isWrong ? await ports.findProblems().catch(() => []) : []
  const rows = queries.map(async (one, index) => {
    const status = statuses.find(({ label }) => label === one.label)
    return await toRow({ query: one, status, probe: probes[index]!, families, problems, ports })
  })
  return { rows: await Promise.all(rows), ...(problem !== undefined && { problem }) }
}

interface GatheredService {
  query: ServiceQuery
  status: ServiceStatus | undefined
  probe: Probe
  families: ReadonlyMap<number, ProcessFamily>
  problems: readonly FileIssue[]
  ports: GatherPorts
}

async function toRow({
  query,
  status,
  probe,
  families,
  problems,
  ports,
}: GatheredService): Promise<ServiceRow> {
  const now = ports.now()
  const hasLogin = ports.manager.kind !== 'supervisor'
  const family = status?.pid === undefined ? undefined : families.get(status.pid)
  const { state, detail } = describeState({ status, probe, family, hasLogin, now })
  const pid = (isKeptAlive(status) ? status?.pid : undefined) ?? probe.pid
  const own = pid === undefined ? undefined : families.get(pid)
  const since = own?.startedAt ?? status?.since ?? probe.since
  const isRemoved =
    !ports.keepsStale && !isKeptAlive(status) && !status?.isLost && (await removeLeftover(probe))
  const runs = pid !== undefined && { pid, ...(since !== undefined && { since }) }
  const unitIssues = status?.isInstalled ? ((await ports.unitNotes?.(query.name)) ?? []) : []
  const configIssues = mayBeConfig(status, ports.manager.kind) ? problems : []
  const notes = await collectNotes({
    ...query,
    status,
    probe,
    state,
    detail,
    pid,
    isRemoved,
    problems: configIssues,
  })
  return {
    name: query.name,
    label: query.label,
    state,
    ...(detail !== undefined && { detail }),
    ...runs,
    ...(own && { memoryBytes: own.memoryBytes, processes: own.pids.length }),
    ...(probe.port !== undefined && { port: probe.port }),
    ...(probe.version !== undefined && { version: probe.version }),
    ...(query.version !== undefined && { versionOnDisk: query.version }),
    ...(status?.isInstalled && status.restarts !== undefined && { restarts: status.restarts }),
    isInstalled: status?.isInstalled ?? false,
    isEnabled: status?.isEnabled ?? false,
    isManaged: isKeptAlive(status),
    notes: [...notes, ...unitIssues],
  }
}

async function removeLeftover({ leftover }: Probe): Promise<boolean> {
  return leftover?.stamp !== undefined && (await removeStale(leftover.file, leftover.stamp))
}

/** Queries the service manager; a failed query yields no statuses. */
async function queryManager(
  manager: ServiceManager,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<{ statuses: readonly ServiceStatus[]; problem?: unknown }> {
  try {
    return { statuses: await manager.status(labels, signal) }
  } catch (problem) {
    return { statuses: [], problem }
  }
}
