import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { readFamilies } from '../../core/process/process-table.ts'
import type { Probe, ProbeService } from '../probe/types.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus } from '../types.ts'
import { describeLastExit } from './state.ts'

/** The ports of waitUntilServiceReady(). */
export interface ReadyPorts {
  manager: Pick<ServiceManager, 'status'>
  probe: ProbeService
  now(): number
  /**
   * Resolves to the name under which a process of the service has announced itself, when it differs from the
   * service's name.
   */
  otherName?(pid: number, signal: AbortSignal): Promise<string | undefined>
  /** The time to wait, 15 s by default. */
  limitMs?: number
}

/** The result of waitUntilServiceReady(); `why` is the end of a sentence. */
export type Readiness = { isReady: true; probe: Probe } | { isReady: false; why: string; probe: Probe }

/**
 * Waits until a started service answers and is the process that its service manager runs. Gives up early when
 * the service can no longer become ready. A service that does not become ready is a result, not an error; throws
 * when the service manager cannot be queried or the signal aborts.
 */
export async function waitUntilServiceReady(
  { name, label }: Pick<ServiceSpec, 'name' | 'label'>,
  { manager, probe, now, otherName, limitMs = LIMIT_MS }: ReadyPorts,
  signal: AbortSignal,
): Promise<Readiness> {
  const deadline = now() + limitMs
  let fatalCount = 0
  for (let look = 0; ; look++) {
    const answer = await probe(name, signal)
    const status =
      answer.answers || look % STATUS_EVERY === STATUS_EVERY - 1 ? await queryStatus() : undefined
    if (answer.answers && (await isManagedProcess(answer, status))) return { isReady: true, probe: answer }
    const fatal = status && (findFatalState(status) ?? (await findMisnaming(status, answer)))
    fatalCount = fatal ? fatalCount + 1 : status ? 0 : fatalCount
    if (fatal && fatalCount > 1) return { isReady: false, why: fatal, probe: answer }
    if (now() > deadline) return { isReady: false, why: describeTimeout(answer, limitMs), probe: answer }
    if (signal.aborted) throw toCancelledError(signal)
    await sleep(look < SOON_LOOKS ? SOON_MS : LATER_MS)
  }

  async function findMisnaming({ pid }: ServiceStatus, answer: Probe): Promise<string | undefined> {
    const other = pid === undefined || answer.answers ? undefined : await otherName?.(pid, signal)
    return (
      other &&
      `it announced itself as "${other}", and a component must call itself "${name}" as its package does`
    )
  }

  async function queryStatus(): Promise<ServiceStatus | undefined> {
    return (await manager.status([label], signal))[0]
  }
}

/**
 * Whether the process that answers is the one that the service manager runs; true also when the manager runs
 * one but does not know its process id.
 */
async function isManagedProcess(probe: Probe, status: ServiceStatus | undefined): Promise<boolean> {
  if (probe.idleExitMs !== undefined) return false // an on-demand daemon that a command started meanwhile
  if (status === undefined || RESTING.has(status.state)) return false
  if (status.pid === undefined || probe.pid === undefined || status.pid === probe.pid) return true
  return (await readFamilies([status.pid])).get(status.pid)?.pids.includes(probe.pid) ?? false
}

/** Explains why the service can no longer become ready; undefined while it still can. */
function findFatalState(status: ServiceStatus): string | undefined {
  if (status.state === 'failed') return `it ended with ${describeLastExit(status)}`
  if (status.state === 'stopped')
    return `it ended by itself${status.lastExit ? `, ${describeLastExit(status)}` : ''}`
  const crashed = status.state === 'waiting' && (status.restarts ?? 0) >= MAX_CRASHES
  return crashed ? `it ends with ${describeLastExit(status)} every time it is started` : undefined
}

function describeTimeout({ problem, answers, pid }: Probe, limitMs: number): string {
  if (answers) return `${pid === undefined ? 'something else' : `process ${pid}`} answers in its place`
  return `it did not answer within ${limitMs / 1000} s${problem === undefined ? '' : `: ${problem}`}`
}

/** The states in which the service has no process, so that another process must be answering. */
const RESTING: ReadonlySet<ServiceStatus['state']> = new Set(['stopped', 'failed', 'waiting'])
const LIMIT_MS = 15_000
const SOON_MS = 25
const LATER_MS = 100
const SOON_LOOKS = 40
/** Querying the service manager starts a program, so it happens only on every sixth probe. */
const STATUS_EVERY = 6
const MAX_CRASHES = 2
