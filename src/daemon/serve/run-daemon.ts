import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { VERSION } from '../../core/base/version.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { Leases } from '../../core/lease/types.ts'
import { request, route } from '../../core/protocol/dispatch.ts'
import { followComponents } from '../components/follow-components.ts'
import { compose } from '../compose.ts'
import { handlers } from '../handlers/handlers.ts'
import type { NodeOptions, Services } from '../services.ts'
import { sweepHome } from '../sweep-leftovers.ts'
import { takeHome } from './home-lease.ts'
import { IdleExit } from './idle-exit.ts'
import { type DaemonHost, DaemonLifecycle } from './lifecycle.ts'
import { type Listeners, openListeners } from './listeners.ts'
import { requireOwnRunFolder } from './own-run-folder.ts'
import { takeFromOnDemand } from './takeover.ts'
import { bothLogs, terminalLog } from './terminal-log.ts'

/** The process that is to be a daemon. */
export interface DaemonProcess extends DaemonHost {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly uid: number
  readonly homeDir: string
  memoryBytes(): number
  ripgrep(folder: string): Promise<string | undefined>
  searchWorker(): Promise<string | URL | undefined>
}

export interface DaemonOptions {
  paths: HomePaths
  /** After so long without anybody it ends, milliseconds; undefined: it stays. */
  idleExitMs?: number | undefined
  /** Instead of what config.toml says; 0 picks a free one. */
  tcpPort?: number | undefined
  /** How often it looks whether it can still be found, milliseconds; by default once a minute. */
  lookMs?: number
}

/** The times that running turns, and everything together, may take to end. A program that does not end is killed between them. */
const GRACE_MS = 1500
const END_MS = 4800
const POLL_MS = 60_000
const SWEEP_AGAIN_MS = 2 * 60_000

/**
 * Is the daemon of a home until a signal, a client or idleness ends it, and gives its exit code.
 *
 * Fails with `conflict` where the home has one, `config` on a broken config.toml and in a home it cannot write to;
 * logs/daemon.log says so, too.
 */
export async function runDaemon(host: DaemonProcess, options: DaemonOptions): Promise<number> {
  await refuseForeignHome(options.paths)
  await requireOwnRunFolder(options.paths.run, host.uid)
  using file = new LogFile({ path: join(options.paths.logs, 'daemon.log'), pid: host.pid, now: Date.now })
  const log = host.stderr.isTerminal ? bothLogs(file.log, terminalLog(host.stderr, Date.now)) : file.log
  using life = new DaemonLifecycle(host, log)
  try {
    await runUntilStopped({ host, options, log, life })
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (!life.signal.aborted && (life.hasHome || kind !== 'conflict'))
      file.log('error', message, { kind, hint })
    if (!life.signal.aborted) throw life.isServing ? reason : toStartError(reason)
    if (reason !== life.signal.reason) log('error', `while it stopped: ${message}`, { kind })
  }
  log('info', 'stopped')
  return life.hasCrashed ? ERROR_KINDS.internal.exit : 0
}

/**
 * Turns a storage error that no restart mends, such as a read-only home, into a `config` error: its exit code, 78, stops a
 * service manager from starting the daemon again. A full disk may have room a moment later.
 */
function toStartError(reason: unknown): unknown {
  const { kind, message, hint, cause } = toCrabError(reason)
  if (kind !== 'storage' || !LASTING.has(getErrorCode(cause))) return reason
  return new CrabError('config', message, { cause: reason, ...(hint !== undefined && { hint }) })
}

const LASTING: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'ELOOP'])

interface DaemonContext {
  host: DaemonProcess
  options: DaemonOptions
  log: Log
  life: DaemonLifecycle
}

/** From the lease on the home to its return, in the order of the Daemon chapter. */
async function runUntilStopped(at: DaemonContext): Promise<void> {
  const { host, options, log, life } = at
  const { paths, idleExitMs } = options
  using _leaving = leaveInTime(at)
  let listeners: Listeners | undefined
  await using services = compose(toNodeOptions(at, () => listeners))
  const before = await takeOwnHome(services, at)
  life.hasHome = true
  log('info', `starting crabtalk ${VERSION}`, { home: paths.home })
  if (before !== undefined) log('info', `took the place of process ${before}, which a command had started`)
  await services.migrate(log)
  const { daemon } = await services.setting.config()
  await services.models(life.signal)
  await services.runtime(life.signal)
  const { problem } = await services.subscriptions.read()
  if (problem) log('warn', problem.message)
  using idle = new IdleExit({
    idleMs: idleExitMs,
    isBusy: () => isBusy(services, listeners),
    now: Date.now,
    onIdle: () => life.stop('nobody uses it'),
  })
  listeners = await openListeners({
    services,
    uid: host.uid,
    tcpPort: options.tcpPort ?? daemon.tcpPort,
    daemon,
    graceMs: () => (life.hasCrashed ? 0 : GRACE_MS),
    onError: ({ kind, message }) => log('error', message, { kind }),
    onWarning: (message) => {
      log('warn', message)
      if (!host.stderr.isTerminal) host.stderr.write(`crabtalk: warning: ${message}\n`) // a terminal shows the log
    },
    watched: (dispatch) => idle.watched(dispatch),
  })
  life.isServing = true
  log('info', `listening on ${listeners.endpoints().join(' and ')}`)
  services.sessionIndex.warm()
  void services.roster.syncAll().catch((reason: unknown) => log('error', toCrabError(reason).message))
  using _components = followComponents({ ...services, folder: paths.run, log, lookMs: options.lookMs })
  using _watch = endWhenLost(listeners, at)
  using _sweeps = sweepTwice(paths)
  life.reloadWith(() => void reload(services, at))
  await aborted(life.signal)
  life.reloadWith(() => {}) // what ends reads nothing again
  await drain(services, listeners, life)
}

/** Gives the process that gave way to it, if one did. */
async function takeOwnHome(
  services: Services,
  { host, options, life }: DaemonContext,
): Promise<number | undefined> {
  const { paths, idleExitMs } = options
  const leases = {
    take: (...asked: Parameters<Leases['take']>) => services.place.leases.take(...asked),
    describeHolder: services.findHolder,
  }
  const take = () => takeHome(leases, { pid: host.pid, home: paths.home })
  if (idleExitMs !== undefined) return void (await take())
  const waits = (pid: number) =>
    host.stderr.write(`crabtalk: waits for the turns of process ${pid}, which a command has started\n`)
  return await takeFromOnDemand({ place: { paths, env: host.env, uid: host.uid }, take, waits }, life.signal)
}

/** Without its socket it would stay for ever, beside another one that takes its home. */
function endWhenLost(listeners: Listeners, { options, life }: DaemonContext): Disposable {
  const look = () => {
    if (!listeners.isListening()) life.stop('its socket was removed')
  }
  const timer = setInterval(look, options.lookMs ?? POLL_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Sweeps now, and once more when what the last daemon was killed over is old enough. */
function sweepTwice(paths: HomePaths): Disposable {
  void sweepHome(paths, Date.now())
  const timer = setTimeout(() => void sweepHome(paths, Date.now()), SWEEP_AGAIN_MS)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

function toNodeOptions(
  { host, options, log, life }: DaemonContext,
  listeners: () => Listeners | undefined,
): NodeOptions {
  const { paths, idleExitMs } = options
  const { env, pid, uid, homeDir, ripgrep, searchWorker, memoryBytes } = host
  const daemon = {
    startedAt: Date.now(),
    idleExitMs,
    endpoints: () => listeners()?.endpoints() ?? [],
    connections: () => listeners()?.connections() ?? 0,
    memoryBytes,
    stop: () => life.stop('a client asked for it'),
  }
  const cwd = homeDir || paths.home
  return { paths, env, pid, uid, homeDir, log, cwd, ripgrep, searchWorker, daemon }
}

/** Lets requests and turns end by themselves for a moment, then cancels them and waits until what they did is stored. */
async function drain(services: Services, listeners: Listeners, life: DaemonLifecycle): Promise<void> {
  services.bus?.bus.close() // nothing is started any more
  const timer = new AbortController()
  const closing = listeners[Symbol.asyncDispose]()
  const grace = sleep(life.hasCrashed ? 0 : GRACE_MS, undefined, { signal: timer.signal })
  await Promise.race([services.live.settled(), grace.catch(() => undefined)])
  timer.abort()
  services.live.cancelDetached()
  await closing
}

/**
 * What ignores its end must not keep the daemon, nor, once that has stopped, its process: whatever of it are programs ends
 * behind this process.
 */
function leaveInTime({ host, log, life }: DaemonContext): Disposable {
  let timer: NodeJS.Timeout | undefined
  life.signal.addEventListener('abort', () => {
    timer = setTimeout(() => {
      log('warn', `leaving after ${END_MS / 1000} s: something does not end`)
      host.leave(life.hasCrashed ? ERROR_KINDS.internal.exit : 0)
    }, END_MS)
  })
  return { [Symbol.dispose]: () => timer?.unref() }
}

async function reload(services: Services, { log, life }: DaemonContext): Promise<void> {
  try {
    await request(route(handlers(services, 'process')), 'reload', {}, life.signal)
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    log('error', message, { kind, hint })
  }
}

function isBusy({ live, running, asks }: Services, listeners: Listeners | undefined): boolean {
  const clients = listeners?.connections() ?? 0
  return clients + live.running().length + running.list().length + asks.list('').length > 0
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
