import { join } from 'node:path'
import { waitAtMost } from '../../core/base/deadline.ts'
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

/** The process that becomes a daemon. */
export interface DaemonProcess extends DaemonHost {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly uid: number
  readonly homeDir: string
  memoryBytes(): number
  ripgrep(folder: string): Promise<string | undefined>
  searchWorker(): Promise<string | URL | undefined>
  build(): Promise<{ readonly command: readonly [string, ...string[]] }>
}

/** The options of a daemon. */
export interface DaemonOptions {
  paths: HomePaths
  /** The idle timeout in milliseconds; undefined means that the daemon never exits by itself. */
  idleExitMs?: number | undefined
  /** Overrides the port of config.toml; 0 picks a free one. */
  tcpPort?: number | undefined
  /**
   * The interval in milliseconds of the checks whether the daemon can still be found; one minute by default.
   */
  lookMs?: number
}

/**
 * The time limits in milliseconds for running turns, and for the whole shutdown. A program that does not end
 * is killed in between.
 */
const GRACE_MS = 1500
const END_MS = 4800
const POLL_MS = 60_000
const SECOND_SWEEP_MS = 2 * 60_000

/**
 * Runs the daemon of a home until a signal, a client or idleness stops it, and returns its exit code.
 *
 * Fails with `conflict` when the home already has a daemon, with `config` for an invalid config.toml and for
 * a home that it cannot write to. Failures other than `conflict` are also written to logs/daemon.log.
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
 * Converts a storage error that a restart cannot fix, such as a read-only home, to a `config` error: its exit
 * code, 78, keeps a service manager from restarting the daemon. A full disk is not converted, because it may
 * have room a moment later.
 */
function toStartError(reason: unknown): unknown {
  const { kind, message, hint, cause } = toCrabError(reason)
  if (kind !== 'storage' || !PERMANENT_CODES.has(getErrorCode(cause))) return reason
  return new CrabError('config', message, { cause: reason, ...(hint !== undefined && { hint }) })
}

const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EEXIST',
  'ENOTDIR',
  'ELOOP',
])

interface DaemonContext {
  host: DaemonProcess
  options: DaemonOptions
  log: Log
  life: DaemonLifecycle
}

/**
 * Starts the daemon, waits until it is to stop, and drains it. The lease on the home is taken first and
 * released last.
 */
async function runUntilStopped(at: DaemonContext): Promise<void> {
  const { host, options, log, life } = at
  const { paths, idleExitMs } = options
  using _leaving = exitInTime(at)
  let listeners: Listeners | undefined
  await using services = compose(toNodeOptions(at, () => listeners))
  const before = await takeOwnHome(services, at)
  life.hasHome = true
  log('info', `starting crabtalk ${VERSION}`, { home: paths.home })
  if (before !== undefined) log('info', `replaced process ${before}, which a command had started`)
  await services.migrate(log)
  const { daemon } = await services.liveConfig.config()
  const { defaultError } = await services.models(life.signal)
  if (defaultError?.kind === 'config') log('warn', defaultError.message)
  await services.runtime(life.signal)
  const { problem } = await services.subscriptions.read()
  if (problem) log('warn', problem.message)
  using idle = new IdleExit({
    idleMs: idleExitMs,
    isBusy: () => isBusy(services, listeners),
    now: Date.now,
    onIdle: () => life.stop('no client uses it'),
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
      // a terminal already shows the log
      if (!host.stderr.isTerminal) host.stderr.write(`crabtalk: warning: ${message}\n`)
    },
    watched: (dispatch) => idle.watched(dispatch),
  })
  life.isServing = true
  log('info', `listening on ${listeners.endpoints().join(' and ')}`)
  services.sessionIndex.warm()
  void services.agentSync.syncAll().catch((reason: unknown) => log('error', toCrabError(reason).message))
  using _components = followComponents({ ...services, folder: paths.run, log, lookMs: options.lookMs })
  using _watch = stopWhenLost(listeners, at)
  using _sweeps = sweepTwice(paths)
  life.reloadWith(() => void reload(services, at))
  await waitForAbort(life.signal)
  life.reloadWith(() => {}) // a daemon that is stopping does not reload
  await drain(services, listeners, life)
}

/** Takes the lease on the home, and returns the pid of the on-demand daemon that it replaced, if any. */
async function takeOwnHome(
  services: Pick<Services, 'stores' | 'findHolder'>,
  { host, options, life }: DaemonContext,
): Promise<number | undefined> {
  const { paths, idleExitMs } = options
  const leases = {
    take: (...args: Parameters<Leases['take']>) => services.stores.leases.take(...args),
    describeHolder: services.findHolder,
  }
  const take = () => takeHome(leases, { pid: host.pid, home: paths.home })
  if (idleExitMs !== undefined) return void (await take())
  const waits = (pid: number) =>
    host.stderr.write(`crabtalk: waiting for the turns of process ${pid}, which a command started\n`)
  return await takeFromOnDemand({ target: { paths, env: host.env, uid: host.uid }, take, waits }, life.signal)
}

/**
 * Stops the daemon when its socket was removed: it would otherwise run forever, alongside another daemon that
 * takes its home.
 */
function stopWhenLost(listeners: Listeners, { options, life }: DaemonContext): Disposable {
  const check = () => {
    if (!listeners.isListening()) life.stop('its socket was removed')
  }
  const timer = setInterval(check, options.lookMs ?? POLL_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Sweeps now, and again when the files left by a killed predecessor are old enough. */
function sweepTwice(paths: HomePaths): Disposable {
  void sweepHome(paths, Date.now())
  const timer = setTimeout(() => void sweepHome(paths, Date.now()), SECOND_SWEEP_MS)
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
  const ownCommand = async () => (await host.build()).command
  return { paths, env, pid, uid, homeDir, log, cwd, ripgrep, searchWorker, ownCommand, daemon }
}

/** Gives requests and turns a grace period, then cancels them and waits until their results are stored. */
async function drain(
  services: Pick<Services, 'live' | 'bus'>,
  listeners: Listeners,
  life: DaemonLifecycle,
): Promise<void> {
  services.bus?.bus.close() // nothing new is started
  const closing = listeners[Symbol.asyncDispose]()
  await waitAtMost(services.live.settled(), life.hasCrashed ? 0 : GRACE_MS)
  services.live.cancelDetached()
  await closing
}

/**
 * Exits after `END_MS` even if something ignores the shutdown; once the daemon has stopped, the timer does
 * not keep the process alive. Programs that are still running are ended by their watchdogs.
 */
function exitInTime({ host, log, life }: DaemonContext): Disposable {
  let timer: NodeJS.Timeout | undefined
  life.signal.addEventListener('abort', () => {
    timer = setTimeout(() => {
      log('warn', `exiting after ${END_MS / 1000} s although some work has not ended`)
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

function isBusy(
  { live, running, asks }: Pick<Services, 'running' | 'asks' | 'live'>,
  listeners: Listeners | undefined,
): boolean {
  const clients = listeners?.connections() ?? 0
  return clients + live.running().length + running.list().length + asks.list('').length > 0
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
