import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError, ERROR_KINDS, parseErrorKind } from '../core/base/errors.ts'
import { makePrivateDir } from '../core/base/files.ts'
import { parseObject } from '../core/base/json.ts'
import type { JsonObject } from '../core/base/message.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { startDetached } from '../core/process/start-detached.ts'
import type { ExitStatus } from '../core/process/types.ts'
import type { AttachingProcess } from './attaching-process.ts'
import { type DaemonTarget, type FoundDaemon, findDaemon } from './find-daemon.ts'
import { homeHolder } from './serve/home-lease.ts'

/** The idle timeout of a daemon that was started on demand (ADR 0105). */
const IDLE_EXIT = '60s'
/**
 * The start timeout in milliseconds, which only a daemon that neither exits nor answers reaches: a busy
 * machine is slow, not broken.
 */
const START_TIMEOUT_MS = 20_000
const POLL_MS = 10

/**
 * Starts the daemon of a home and waits up to 20 s until it answers. Of several daemons that are started
 * concurrently, one remains; when the home's current daemon is just exiting, another one is started.
 *
 * Returns undefined when config.toml says `on_demand = false`. Fails with the error of a daemon that cannot
 * start, or with `unavailable` when it takes too long.
 */
export async function startDaemon(
  caller: AttachingProcess,
  target: DaemonTarget,
  signal: AbortSignal,
): Promise<FoundDaemon | undefined> {
  const { paths } = target
  if (!(await loadConfig(paths)).daemon.onDemand) return undefined
  await makePrivateDir(paths.home)
  const { command } = await caller.build()
  const start = () =>
    startDetached({
      argv: [...command, 'daemon', 'run', '--idle-exit', IDLE_EXIT, '--env-file', paths.serviceEnv],
      cwd: paths.home,
      env: { ...caller.env, CRABTALK_HOME: paths.home },
      name: 'crabtalk',
    })
  const first = await waitUntilReady(await start(), target, signal)
  if (first !== 'refused') return first
  const second = await waitUntilReady(await start(), target, signal)
  if (second !== 'refused') return second
  throw new CrabError('unavailable', 'Cannot start a daemon: it exited twice without an error message', {
    hint: 'run: crabtalk daemon run',
  })
}

/** Resolves with `refused` when another daemon held the home and has exited since. */
async function waitUntilReady(
  { pid, exited }: { pid: number; exited: Promise<ExitStatus> },
  target: DaemonTarget,
  signal: AbortSignal,
): Promise<FoundDaemon | 'refused'> {
  let ended: ExitStatus | undefined
  let wasRefused = false
  void exited.then((status) => {
    ended = status
  })
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    const found = await findDaemon(target, signal)
    if (found) return found
    if (ended) {
      wasRefused = wasRefused || (await isRefused(target.paths, pid, ended))
      if (!wasRefused) throw await readStartFailure(target.paths, pid, ended)
      if (!(await homeHolder(target.paths))) return 'refused'
    }
    if (signal.aborted) throw toCancelledError(signal)
    await sleep(POLL_MS)
  }
  if (ended) throw await readStartFailure(target.paths, pid, ended)
  throw new CrabError(
    'unavailable',
    `Cannot start a daemon: it did not answer within ${START_TIMEOUT_MS / 1000} s`,
    {
      hint: `see ${logFile(target.paths)}`,
    },
  )
}

/**
 * Returns whether another daemon held the home: only then does the log, which the other one writes, contain
 * no error of this process.
 */
async function isRefused(paths: HomePaths, pid: number, { code }: ExitStatus): Promise<boolean> {
  return code === ERROR_KINDS.conflict.exit && (await readLastError(paths, pid)) === undefined
}

/** Returns the last failure that the process logged as an error. */
async function readStartFailure(
  paths: HomePaths,
  pid: number,
  { code, signal }: ExitStatus,
): Promise<CrabError> {
  const logged = await readLastError(paths, pid)
  const how = signal ? `it was killed by ${signal}` : `it exited with code ${code}`
  const hint =
    typeof logged?.['hint'] === 'string'
      ? logged['hint']
      : `see ${logFile(paths)}, or run: crabtalk daemon run`
  const kind = parseErrorKind(String(logged?.['kind'])) ?? 'unavailable'
  return new CrabError(kind, `Cannot start a daemon: ${logged?.['message'] ?? how}`, { hint })
}

/** Returns the last error in the log of a process; undefined when there is none. */
async function readLastError(paths: HomePaths, pid: number): Promise<JsonObject | undefined> {
  // the process may have ended before it created the log
  const text = await readFile(logFile(paths), 'utf8').catch(() => '')
  return text
    .split('\n')
    .map(parseObject)
    .findLast((line) => line?.['pid'] === pid && line['level'] === 'error')
}

function logFile({ logs }: HomePaths): string {
  return join(logs, 'daemon.log')
}
