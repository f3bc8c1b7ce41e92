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

/** Where the files of services are. */
export interface ServiceFiles {
  folder: string
  /** The one whose supervisor is meant; by default that of all. */
  only?: string
}

/** The same, and what makes somebody look after them. */
export interface ServiceFolder extends ServiceFiles {
  /** Has a supervisor run, if none does. */
  ensure(signal: AbortSignal): Promise<void>
}

/** Has it run as its spec says, and resolves when it was started, or could not be; one that runs is left alone. */
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

/** Has it end if it runs, and start as its spec says; resolves as startSupervised() does. */
export async function restartSupervised(
  at: ServiceFolder,
  spec: ServiceSpec,
  signal: AbortSignal,
): Promise<void> {
  await setDesired(at.folder, spec, newStartRequest('restart'))
  await waitUntilApplied(at, spec.name, signal)
}

/** Has it end, and resolves when nothing of it runs any more. Fails with `conflict` when somebody starts it meanwhile. */
export async function stopSupervised(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  clearDesired(at.folder, name)
  await pollUntil(at, signal, async () => {
    if (readDesired(at.folder, name)) {
      throw new CrabError('conflict', `Cannot stop ${name}: somebody started it meanwhile`)
    }
    const record = readRecord(at.folder, name)
    return record === undefined || RESTS.has(record.state)
  })
}

/** What is known of the services with these labels, in their order. */
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
      if (!record) return await unrecorded(none, files, spec.name)
      const isLost = !RESTS.has(record.state) && (await findSupervisor(folder, files.only)) === undefined
      return await toStatus(none, record, { isLost, isWanted: readDesired(folder, spec.name) !== undefined })
    }),
  )
}

/** Every service that has a file here. */
export function listSpecs(folder: string): ServiceSpec[] {
  return listServiceNames(folder).known.flatMap((name) => readKnownSpec(folder, name) ?? [])
}

/** Ends it, and forgets it. */
export async function removeSupervised(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  await stopSupervised(at, name, signal)
  forgetService(at.folder, name)
}

/** Resolves when what is wanted now has been done. */
async function waitUntilApplied(at: ServiceFolder, name: string, signal: AbortSignal): Promise<void> {
  await at.ensure(signal) // what runs already may have lost its supervisor
  let looks = 0
  await pollUntil(at, signal, async () => {
    const wanted = readDesired(at.folder, name)
    if (!wanted) throw new CrabError('conflict', `Cannot start ${name}: somebody stopped it meanwhile`)
    const record = readRecord(at.folder, name)
    const isDone = record?.asked === wanted.asked.id && DONE.has(record.state)
    if (!isDone && ++looks % POLLS === 0) checkWritable(at.folder, `Cannot hear whether ${name} has started`)
    return isDone
  })
}

/** Looks until it is so; a supervisor that is lost meanwhile is started again. */
async function pollUntil(
  at: ServiceFolder,
  signal: AbortSignal,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + LONGEST_MS
  for (let napMs = FIRST_NAP_MS; !(await isSo()); napMs = Math.min(napMs * 1.5, LAST_NAP_MS)) {
    if (signal.aborted) throw toCancelledError(signal)
    if (performance.now() > deadline) {
      throw new CrabError('unavailable', 'Cannot reach the supervisor of services: it does nothing', {
        hint: 'see logs/supervisor.log in the home directory',
      })
    }
    await at.ensure(signal)
    await sleep(napMs, undefined, { signal }).catch(() => undefined) // the next look tells
  }
}

/** One that is wanted and looked after, and of which nothing is heard: it may run, and the disk be full. */
async function unrecorded(none: ServiceStatus, files: ServiceFiles, name: string): Promise<ServiceStatus> {
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

/** The state of what does not run: what a lost supervisor left behind is not about to start. */
function downState({ state }: ServiceRecord, isLost: boolean): ServiceStatus['state'] {
  if (RESTS.has(state)) return state
  return isLost ? 'stopped' : state === 'running' || state === 'stopping' ? 'waiting' : state
}

const RESTS: ReadonlySet<ServiceRecord['state']> = new Set(['stopped', 'failed'])
const DONE: ReadonlySet<ServiceRecord['state']> = new Set(['running', 'waiting', 'failed', 'stopped'])
const UP: ReadonlySet<ServiceRecord['state']> = new Set(['running', 'stopping'])
/** What a service may take to end, and to start. */
const LONGEST_MS = 60_000
/** After so many looks, a second or two, something is wrong, and a full disk is what it may be. */
const POLLS = 20
const FIRST_NAP_MS = 5
const LAST_NAP_MS = 100
