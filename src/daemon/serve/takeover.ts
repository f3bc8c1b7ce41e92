import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { type DaemonTarget, findDaemon } from '../find-daemon.ts'
import { homeHolder } from './home-lease.ts'

/** The takeover of a home by a permanent daemon. */
export interface Takeover {
  target: DaemonTarget
  /** Takes the home immediately, or fails with `conflict`. */
  take(): Promise<unknown>
  /** Called once for each daemon whose turns are waited for. */
  waits(pid: number): unknown
}

/** A daemon that a command started on demand. */
interface OnDemand {
  pid: number
  dispatch: Dispatch
}

/**
 * Takes a home. When a daemon that a command started on demand holds it, waits for the turns of that daemon,
 * shuts it down and returns its pid: while a service is briefly down, any open chat may start such a daemon.
 * Fails as `take` does when any other daemon holds the home, or when the on-demand daemon does not exit.
 */
export async function takeFromOnDemand(
  { target, take, waits }: Takeover,
  signal: AbortSignal,
): Promise<number | undefined> {
  let before: number | undefined
  for (;;) {
    try {
      await take()
      return before
    } catch (reason) {
      const other = isConflict(reason) && (await findOnDemand(target, signal))
      if (!other) throw reason
      await waitUntilIdle(other, waits, signal)
      await undefinedIfGone(request(other.dispatch, 'shutdown', {}, signal))
      if (!(await waitForExit(other.pid, target, signal))) throw reason
      before = other.pid
    }
  }
}

function isConflict(reason: unknown): boolean {
  return reason instanceof CrabError && reason.kind === 'conflict'
}

async function findOnDemand(target: DaemonTarget, signal: AbortSignal): Promise<OnDemand | undefined> {
  const found = await findDaemon(target, signal).catch(() => undefined) // its owner is unknown then
  const stats = found && (await undefinedIfGone(request(found.dispatch, 'getStats', {}, signal)))
  if (!found || stats?.idleExitMs === undefined || stats.home !== target.paths.home) return undefined
  return { pid: stats.pid, dispatch: found.dispatch }
}

async function waitUntilIdle(
  { pid, dispatch }: OnDemand,
  waits: Takeover['waits'],
  signal: AbortSignal,
): Promise<void> {
  for (let polls = 0; ; polls++) {
    const active = await undefinedIfGone(request(dispatch, 'listActiveConversations', {}, signal))
    if (!active?.conversations.length) return
    if (polls === 0) waits(pid)
    await sleepMs(TURNS_POLL_MS, signal)
  }
}

/**
 * Returns whether the process has released the home, which it holds until it has shut down; false after a
 * timeout.
 */
async function waitForExit(pid: number, { paths }: DaemonTarget, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + EXIT_TIMEOUT_MS
  while ((await homeHolder(paths))?.pid === pid) {
    if (performance.now() > deadline) return false
    await sleepMs(EXIT_POLL_MS, signal)
  }
  return true
}

/** Resolves with undefined when the daemon has ended meanwhile. */
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

const TURNS_POLL_MS = 200
/** The timeout in milliseconds for a daemon to exit. It takes at most 5 s, but longer on a busy machine. */
const EXIT_TIMEOUT_MS = 15_000
const EXIT_POLL_MS = 10
