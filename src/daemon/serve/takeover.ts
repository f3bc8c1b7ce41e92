import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { type DaemonTarget, findDaemon } from '../find-daemon.ts'
import { homeHolder } from './home-lease.ts'

/** A daemon that is to stay, and takes its home. */
export interface Takeover {
  place: DaemonTarget
  /** Takes the home at once, or fails with `conflict`. */
  take(): Promise<unknown>
  /** Told once of each daemon whose turns are waited for. */
  waits(pid: number): unknown
}

/** A daemon that a command has started. */
interface OnDemand {
  pid: number
  dispatch: Dispatch
}

/**
 * Takes a home also from a daemon that a command has started on demand, once its turns have ended, and gives the pid of
 * that one: while a service is down for a moment, any open chat starts one. Fails as `take` does where another has it, or
 * where it does not go.
 */
export async function takeFromOnDemand(
  { place, take, waits }: Takeover,
  signal: AbortSignal,
): Promise<number | undefined> {
  let before: number | undefined
  for (;;) {
    try {
      await take()
      return before
    } catch (reason) {
      const other = isTaken(reason) && (await findOnDemand(place, signal))
      if (!other) throw reason
      await waitUntilIdle(other, waits, signal)
      await undefinedIfGone(request(other.dispatch, 'shutdown', {}, signal))
      if (!(await hasLeft(other.pid, place, signal))) throw reason
      before = other.pid
    }
  }
}

function isTaken(reason: unknown): boolean {
  return reason instanceof CrabError && reason.kind === 'conflict'
}

async function findOnDemand(place: DaemonTarget, signal: AbortSignal): Promise<OnDemand | undefined> {
  const found = await findDaemon(place, signal).catch(() => undefined) // whose it is nobody knows then
  const stats = found && (await undefinedIfGone(request(found.dispatch, 'getStats', {}, signal)))
  if (!found || stats?.idleExitMs === undefined || stats.home !== place.paths.home) return undefined
  return { pid: stats.pid, dispatch: found.dispatch }
}

async function waitUntilIdle(
  { pid, dispatch }: OnDemand,
  waits: Takeover['waits'],
  signal: AbortSignal,
): Promise<void> {
  for (let look = 0; ; look++) {
    const active = await undefinedIfGone(request(dispatch, 'listActiveConversations', {}, signal))
    if (!active?.conversations.length) return
    if (look === 0) waits(pid)
    await sleepMs(TURNS_MS, signal)
  }
}

/** Whether the home is no longer that process's; it is as long as it ends. */
async function hasLeft(pid: number, { paths }: DaemonTarget, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + LEAVE_MS
  while ((await homeHolder(paths))?.pid === pid) {
    if (performance.now() > deadline) return false
    await sleepMs(LEAVE_LOOK_MS, signal)
  }
  return true
}

/** Undefined when it has ended meanwhile. */
async function undefinedIfGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'unavailable') return undefined
    throw reason
  }
}

async function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw toCancelledError(signal)
  })
}

const TURNS_MS = 200
/** A daemon is gone within 5 s of being asked; that of a machine which is busy may take longer. */
const LEAVE_MS = 15_000
const LEAVE_LOOK_MS = 10
