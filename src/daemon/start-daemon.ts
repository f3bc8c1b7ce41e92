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

/** How long a daemon that nobody uses stays (decision 31). */
const IDLE_EXIT = '60s'
/** Only one that neither ends nor answers is waited for so long: a busy machine is slow, not broken. */
const START_MS = 20_000
const LOOK_MS = 10

/**
 * Starts the daemon of a home and waits until it answers, at most 20 s; of several that are started at once one remains, and
 * behind one that is about to end another is started.
 *
 * Undefined where config.toml says `on_demand = false`. Fails with what it says when it cannot start, `unavailable` when
 * it takes too long.
 */
export async function startDaemon(
  caller: AttachingProcess,
  place: DaemonTarget,
  signal: AbortSignal,
): Promise<FoundDaemon | undefined> {
  const { paths } = place
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
  const first = await waitUntilReady(await start(), place, signal)
  if (first !== 'refused') return first
  const second = await waitUntilReady(await start(), place, signal)
  if (second !== 'refused') return second
  throw new CrabError('unavailable', 'Cannot start a daemon: it ended twice without a word', {
    hint: 'run: crabtalk daemon run',
  })
}

/** `refused`: another daemon had the home, and has gone since. */
async function waitUntilReady(
  { pid, exited }: { pid: number; exited: Promise<ExitStatus> },
  place: DaemonTarget,
  signal: AbortSignal,
): Promise<FoundDaemon | 'refused'> {
  let ended: ExitStatus | undefined
  let wasRefused = false
  void exited.then((status) => {
    ended = status
  })
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const found = await findDaemon(place, signal)
    if (found) return found
    if (ended) {
      wasRefused = wasRefused || (await isRefused(place.paths, pid, ended))
      if (!wasRefused) throw await startFailure(place.paths, pid, ended)
      if (!(await homeHolder(place.paths))) return 'refused'
    }
    if (signal.aborted) throw toCancelledError(signal)
    await sleep(LOOK_MS)
  }
  if (ended) throw await startFailure(place.paths, pid, ended)
  throw new CrabError(
    'unavailable',
    `Cannot start a daemon: it does not answer within ${START_MS / 1000} s`,
    {
      hint: `see ${logFile(place.paths)}`,
    },
  )
}

/** Whether the home was another one's: of that alone the log, which is then the other's, says nothing. */
async function isRefused(paths: HomePaths, pid: number, { code }: ExitStatus): Promise<boolean> {
  return code === ERROR_KINDS.conflict.exit && (await lastError(paths, pid)) === undefined
}

/** What that process has written into the log last, as the error it was. */
async function startFailure(paths: HomePaths, pid: number, { code, signal }: ExitStatus): Promise<CrabError> {
  const said = await lastError(paths, pid)
  const how = signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`
  const hint =
    typeof said?.['hint'] === 'string' ? said['hint'] : `see ${logFile(paths)}, or run: crabtalk daemon run`
  const kind = parseErrorKind(String(said?.['kind'])) ?? 'unavailable'
  return new CrabError(kind, `Cannot start a daemon: ${said?.['message'] ?? how}`, { hint })
}

/** The last error in the log of a process; undefined where there is none. */
async function lastError(paths: HomePaths, pid: number): Promise<JsonObject | undefined> {
  const text = await readFile(logFile(paths), 'utf8').catch(() => '') // it may not have come so far
  return text
    .split('\n')
    .map(parseObject)
    .findLast((line) => line?.['pid'] === pid && line['level'] === 'error')
}

function logFile({ logs }: HomePaths): string {
  return join(logs, 'daemon.log')
}
