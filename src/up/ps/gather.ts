import type { FileIssue } from '../../core/config/validation-issue.ts'
import { type ProcessFamily, readFamilies } from '../../core/process/process-table.ts'
import type { Probe, ProbeService } from '../probe.ts'
import type { ServiceManager, ServiceStatus } from '../types.ts'
import { collectNotes, type ServiceNote } from './notes.ts'
import { removeStale } from './stale-files.ts'
import { describeState, isKeptAlive, mayBeConfig, type ServiceState } from './state.ts'

/** A service that is looked for. */
export interface ServiceQuery {
  name: string
  label: string
  /** The version that would run after a restart; absent where that cannot be told. */
  version?: string
  /** Why it is listed though there is no such service: the end of a sentence. */
  oddity?: string
}

/** A service as `ps` shows it. */
export interface ServiceRow {
  name: string
  label: string
  state: ServiceState
  detail?: string
  pid?: number
  /** When this run began, milliseconds since 1970. */
  since?: number
  /** Of it and all it has started, bytes. */
  memoryBytes?: number
  /** How many processes it is. */
  processes?: number
  port?: number
  /** Of the program that runs. */
  version?: string
  /** Of the program on the disk. */
  versionOnDisk?: string
  restarts?: number
  isInstalled: boolean
  isEnabled: boolean
  /** Whether the service manager keeps it running, or tries to: what runs without it was started by somebody else. */
  isKept: boolean
  notes: readonly ServiceNote[]
}

/** What all rows together need. */
export interface GatherPorts {
  manager: ServiceManager
  probe: ProbeService
  /** What is wrong with the configuration. */
  findProblems(): Promise<readonly FileIssue[]>
  now(): number
  /** What is wrong with the unit of a service that is installed. */
  unitNotes?(name: string): Promise<readonly ServiceNote[]>
  /** Files that were left behind stay. */
  keepsStale?: boolean
}

/** All rows, and what keeps the service manager from being asked. */
export interface GatherResult {
  rows: readonly ServiceRow[]
  problem?: unknown
}

/** Asks the service manager, the services themselves and the system about each of these services, all at once. */
export async function gatherRows(
  sought: readonly ServiceQuery[],
  ports: GatherPorts,
  signal: AbortSignal,
): Promise<GatherResult> {
  const asked = askManager(
    ports.manager,
    sought.map(({ label }) => label),
    signal,
  )
  const probes = await Promise.all(sought.map(({ name }) => ports.probe(name, signal)))
  const { statuses, problem } = await asked
  const pids = [...statuses, ...probes].flatMap(({ pid }) => pid ?? [])
  const families = await readFamilies(pids)
  const isWrong = statuses.some((status) => mayBeConfig(status, ports.manager.kind))
  const problems = isWrong ? await ports.findProblems().catch(() => []) : []
  const rows = sought.map(async (one, index) => {
    const status = statuses.find(({ label }) => label === one.label)
    return await toRow({ sought: one, status, probe: probes[index]!, families, problems, ports })
  })
  return { rows: await Promise.all(rows), ...(problem !== undefined && { problem }) }
}

interface GatheredService {
  sought: ServiceQuery
  status: ServiceStatus | undefined
  probe: Probe
  families: ReadonlyMap<number, ProcessFamily>
  problems: readonly FileIssue[]
  ports: GatherPorts
}

async function toRow({
  sought,
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
  const ofUnit = status?.isInstalled ? ((await ports.unitNotes?.(sought.name)) ?? []) : []
  const ofConfig = mayBeConfig(status, ports.manager.kind) ? problems : []
  const notes = await collectNotes({
    ...sought,
    status,
    probe,
    state,
    detail,
    pid,
    isRemoved,
    problems: ofConfig,
  })
  return {
    name: sought.name,
    label: sought.label,
    state,
    ...(detail !== undefined && { detail }),
    ...runs,
    ...(own && { memoryBytes: own.memoryBytes, processes: own.pids.length }),
    ...(probe.port !== undefined && { port: probe.port }),
    ...(probe.version !== undefined && { version: probe.version }),
    ...(sought.version !== undefined && { versionOnDisk: sought.version }),
    ...(status?.isInstalled && status.restarts !== undefined && { restarts: status.restarts }),
    isInstalled: status?.isInstalled ?? false,
    isEnabled: status?.isEnabled ?? false,
    isKept: isKeptAlive(status),
    notes: [...notes, ...ofUnit],
  }
}

async function removeLeftover({ leftover }: Probe): Promise<boolean> {
  return leftover?.stamp !== undefined && (await removeStale(leftover.file, leftover.stamp))
}

/** A service manager that cannot be asked knows of nothing. */
async function askManager(
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
