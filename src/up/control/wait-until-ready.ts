import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { readFamilies } from '../../core/process/process-table.ts'
import type { Probe, ProbeService } from '../probe.ts'
import { describeLastExit } from '../ps/state.ts'
import type { ServiceManager, ServiceSpec, ServiceStatus } from '../types.ts'

/** Who is asked whether a service is ready, and for how long. */
export interface ReadyPorts {
  manager: Pick<ServiceManager, 'status'>
  probe: ProbeService
  now(): number
  /** The name under which a process of the service has announced itself, when it is another one. */
  otherName?(pid: number, signal: AbortSignal): Promise<string | undefined>
  /** By default 15 s. */
  limitMs?: number
}

/** How it went. */
export type Readiness = { isReady: true; probe: Probe } | { isReady: false; why: string; probe: Probe }

/**
 * Waits until a service that was started answers, and is that which its service manager runs; no longer than it can still
 * become so. What goes wrong is data: `why` is the end of a sentence.
 */
export async function waitUntilServiceReady(
  { name, label }: Pick<ServiceSpec, 'name' | 'label'>,
  { manager, probe, now, otherName, limitMs = LIMIT_MS }: ReadyPorts,
  signal: AbortSignal,
): Promise<Readiness> {
  const deadline = now() + limitMs
  let rests = 0
  for (let look = 0; ; look++) {
    const asked = await probe(name, signal)
    const status = asked.answers || look % STATUS_EVERY === STATUS_EVERY - 1 ? await queryStatus() : undefined
    if (asked.answers && (await isManagedProcess(asked, status))) return { isReady: true, probe: asked }
    const hopeless = status && (findFatalState(status) ?? (await misnamed(status, asked)))
    rests = hopeless ? rests + 1 : status ? 0 : rests
    if (hopeless && rests > 1) return { isReady: false, why: hopeless, probe: asked }
    if (now() > deadline) return { isReady: false, why: lateness(asked, limitMs), probe: asked }
    if (signal.aborted) throw toCancelledError(signal)
    await sleep(look < SOON_LOOKS ? SOON_MS : LATER_MS)
  }

  async function misnamed({ pid }: ServiceStatus, asked: Probe): Promise<string | undefined> {
    const other = pid === undefined || asked.answers ? undefined : await otherName?.(pid, signal)
    return (
      other &&
      `it announced itself as "${other}", and a component must call itself "${name}" as its package does`
    )
  }

  async function queryStatus(): Promise<ServiceStatus | undefined> {
    return (await manager.status([label], signal))[0]
  }
}

/** Whether what answers is what the service manager runs; where it runs one and does not know which, it is taken for it. */
async function isManagedProcess(probe: Probe, status: ServiceStatus | undefined): Promise<boolean> {
  if (probe.idleExitMs !== undefined) return false // started by a command meanwhile
  if (status === undefined || RESTING.has(status.state)) return false
  if (status.pid === undefined || probe.pid === undefined || status.pid === probe.pid) return true
  return (await readFamilies([status.pid])).get(status.pid)?.pids.includes(probe.pid) ?? false
}

/** Why nothing will come of it any more. */
function findFatalState(status: ServiceStatus): string | undefined {
  if (status.state === 'failed') return `it ended with ${describeLastExit(status)}`
  if (status.state === 'stopped')
    return `it ended by itself${status.lastExit ? `, ${describeLastExit(status)}` : ''}`
  const crashed = status.state === 'waiting' && (status.restarts ?? 0) >= MOST_CRASHES
  return crashed ? `it ends with ${describeLastExit(status)} whenever it is started` : undefined
}

function lateness({ problem, answers, pid }: Probe, limitMs: number): string {
  if (answers) return `${pid === undefined ? 'something else' : `process ${pid}`} answers in its place`
  return `it did not answer within ${limitMs / 1000} s${problem === undefined ? '' : `: ${problem}`}`
}

/** No process of it runs, so that somebody else answers. */
const RESTING: ReadonlySet<ServiceStatus['state']> = new Set(['stopped', 'failed', 'waiting'])
/** services.md. */
const LIMIT_MS = 15_000
const SOON_MS = 25
const LATER_MS = 100
const SOON_LOOKS = 40
/** The service manager is a program that has to be run: it is asked less often. */
const STATUS_EVERY = 6
const MOST_CRASHES = 2
