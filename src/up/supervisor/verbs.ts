import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { ServiceSpec, ServiceStatus } from '../types.ts'
import {
  clearDesired,
  forgetService,
  listServiceNames,
  newStartRequest,
  readDesired,
  readKnownSpec,
  setDesired,
} from './desired-state.ts'
import { checkWritable, findSupervisor, isAlive, readRecord, type ServiceRecord } from './record.ts'

/** The location of the files of services. */
export interface ServiceFiles {
  folder: string
  /** The service whose own supervisor is meant; by default the supervisor of all services. */
  only?: string
}

/** The files of services, and a way to start their supervisor. */
export interface ServiceFolder extends ServiceFiles {
  /** Starts a supervisor if none is running. */
  ensure(signal: AbortSignal): Promise<void>
}

/**
 * Sets the desired state to running and resolves when the service was started or failed to start; a running
 * service is left alone.
 */
export async function startSupervised(
  at: ServiceFolder,
  spec: ServiceSpec,
  signal: AbortSignal,
): Promise<void> {
  const before = readDesired(at.folder, spec.name)
  const record = readRecord(at.folder, spec.name)
  const isPending = before !== undefined && record?.asked !== before.asked.id
  const keeps = before !== undefined && (isPending || (record !== undefined && (await isAlive(record))))
  await setDesired(at.folder, spec, keeps ? before.asked : newStartRequest('start'))
  await waitUntilApplied(at, spec.name, signal)
}

/** Stops the service if it is running and starts it with this spec; resolves like startSupervised(). */
export async function restartSupervised(
  at: ServiceFolder,
  spec: ServiceSpec,
  signal: AbortSignal,
): Promise<void> {
  await setDesired(at.folder, spec, newStartRequest('restart'))
  await waitUntilApplied(at, spec.name, signal)
}

/**
 * Stops the service and resolves when its processes are gone. Throws `conflict` when it is started meanwhile.
 */
export async function stopSupervised(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  clearDesired(at.folder, name)
  await pollUntil(at, signal, async () => {
    if (readDesired(at.folder, name)) {
      throw new CrabError('conflict', `Cannot stop ${name}: it was started in the meantime`)
    }
    const record = readRecord(at.folder, name)
    return record === undefined || RESTING.has(record.state)
  })
}

/** Reads the status of the services with these labels, in their order. */
export async function readStatuses(files: ServiceFiles, labels: readonly string[]): Promise<ServiceStatus[]> {
  const { folder } = files
  const specs = listSpecs(folder)
  return await Promise.all(
    labels.map(async (label) => {
      const spec = specs.find((one) => one.label === label)
      const none: ServiceStatus = {
        label,
        isInstalled: spec !== undefined,
        isEnabled: false,
        state: 'stopped',
      }
      if (!spec) return none
      const record = readRecord(folder, spec.name)
      if (!record) return await statusWithoutRecord(none, files, spec.name)
      const isLost = !RESTING.has(record.state) && (await findSupervisor(folder, files.only)) === undefined
      return await toStatus(none, record, { isLost, isWanted: readDesired(folder, spec.name) !== undefined })
    }),
  )
}

/** Lists the specs of all services with files in the folder. */
export function listSpecs(folder: string): ServiceSpec[] {
  return listServiceNames(folder).known.flatMap((name) => readKnownSpec(folder, name) ?? [])
}

/** Stops the service and removes its files. */
export async function removeSupervised(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  await stopSupervised(at, name, signal)
  forgetService(at.folder, name)
}

/** Resolves when the current request has been carried out. */
async function waitUntilApplied(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  await at.ensure(signal) // a running service may have lost its supervisor
  let looks = 0
  await pollUntil(at, signal, async () => {
    const desired = readDesired(at.folder, name)
    if (!desired) throw new CrabError('conflict', `Cannot start ${name}: it was stopped in the meantime`)
    const record = readRecord(at.folder, name)
    const isDone = record?.asked === desired.asked.id && APPLIED.has(record.state)
    if (!isDone && ++looks % POLLS === 0) checkWritable(at.folder, `Cannot tell whether ${name} has started`)
    return isDone
  })
}

/** Polls until the condition holds; restarts a supervisor that dies meanwhile. */
async function pollUntil(
  at: ServiceFolder,
  signal: AbortSignal,
  isMet: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (let napMs = FIRST_NAP_MS; !(await isMet()); napMs = Math.min(napMs * 1.5, LAST_NAP_MS)) {
    if (signal.aborted) throw toCancelledError(signal)
    if (performance.now() > deadline) {
      throw new CrabError('unavailable', 'Cannot reach the service supervisor: it does not respond', {
        hint: 'see logs/supervisor.log in the home directory',
      })
    }
    await at.ensure(signal)
    await sleep(napMs, undefined, { signal }).catch(() => undefined) // the next iteration checks the signal
  }
}

/** Returns the status of a supervised service without a record: it may be running while the disk is full. */
async function statusWithoutRecord(
  none: ServiceStatus,
  files: ServiceFiles,
  name: string,
): Promise<ServiceStatus> {
  const isDue = readDesired(files.folder, name) !== undefined
  return isDue && (await findSupervisor(files.folder, files.only)) ? { ...none, state: 'starting' } : none
}

async function toStatus(
  none: ServiceStatus,
  record: ServiceRecord,
  { isLost, isWanted }: { isLost: boolean; isWanted: boolean },
): Promise<ServiceStatus> {
  const { since, restarts, lastExit, pid } = record
  const isUp = await isAlive(record)
  const state = isUp ? (UP.has(record.state) ? record.state : 'running') : downState(record, isLost)
  return {
    ...none,
    state,
    ...(isUp && pid !== undefined && { pid }),
    ...(isUp && since !== undefined && { since }),
    restarts,
    ...(isLost && isWanted && { isLost }),
    ...(lastExit && { lastExit }),
  }
}

/**
 * Returns the state of a service that is not running; one that a dead supervisor left behind is not about to
 * start.
 */
function downState({ state }: ServiceRecord, isLost: boolean): ServiceStatus['state'] {
  if (RESTING.has(state)) return state
  return isLost ? 'stopped' : state === 'running' || state === 'stopping' ? 'waiting' : state
}

const RESTING: ReadonlySet<ServiceRecord['state']> = new Set(['stopped', 'failed'])
const APPLIED: ReadonlySet<ServiceRecord['state']> = new Set(['running', 'waiting', 'failed', 'stopped'])
const UP: ReadonlySet<ServiceRecord['state']> = new Set(['running', 'stopping'])
/** The maximum time for a service to stop or start. */
const MAX_WAIT_MS = 60_000
/** The number of polls (one to two seconds) after which a full disk is suspected and checked for. */
const POLLS = 20
const FIRST_NAP_MS = 5
const LAST_NAP_MS = 100
