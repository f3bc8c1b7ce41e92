import { CrabError, toCrabError } from '../core/base/errors.ts'
import { type Lazy, lazy } from '../core/base/lazy.ts'
import { VERSION } from '../core/base/version.ts'
import { type HomePaths, homePaths } from '../core/config/paths.ts'
import type { Leases } from '../core/lease/types.ts'
import type { HelloInfo } from '../core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'
import type { AttachingProcess } from './attaching-process.ts'
import { type DaemonTarget, type FoundDaemon, findDaemon } from './find-daemon.ts'
import type { RuntimeConnection } from './runtime-connection.ts'
import { withStoredEnd } from './stored-end.ts'

/** The connection that `attach()` opens. */
export type { RuntimeConnection as Attached }

/** The options of `attach()`. */
export interface AttachOptions {
  /**
   * `use`: the running daemon, else this process. `start`: starts a daemon if none is running, and falls back
   * to this process when that fails. `only` and `need` work like `use` and `start`, but throw instead of
   * falling back; with `only` no turn may be run, and the daemon's models do not matter. Defaults to `use`.
   */
  daemon?: 'use' | 'only' | 'start' | 'need' | 'never'
  /** The verb and object of the error when a required daemon is missing: `Cannot TASK: no daemon is running`. */
  task?: string
  signal?: AbortSignal
}

/**
 * Connects to the daemon of this home, or to a runtime inside this process; the caller cannot tell them
 * apart.
 *
 * A daemon that would choose other models than this process is not used (ADR 0104). Fails with `config` when
 * the home belongs to another program; where a daemon is required, with what keeps it from starting, or with
 * `unavailable`.
 */
export async function attach(
  caller: AttachingProcess,
  options: AttachOptions = {},
): Promise<RuntimeConnection> {
  const { daemon = 'use', task = 'reach the daemon', signal = new AbortController().signal } = options
  const paths = homePaths(caller.env, { cwd: caller.cwd(), homeDir: caller.homeDir })
  const optedOut = readOptOut(caller, daemon)
  const isNeeded = daemon === 'need' || daemon === 'only'
  if (optedOut !== undefined && isNeeded) throw withoutDaemon(task, optedOut)
  if (optedOut !== undefined) return await attachToThisProcess(caller, paths)
  const fallback = lazy(() => attachToThisProcess(caller, paths, { why: 'the daemon went away' }))
  const target: DaemonTarget = { paths, env: caller.env, uid: caller.uid }
  const otherwise = daemon === 'use' ? { otherwise: toLazyDispatch(fallback) } : {}
  const found = await findOrStart(caller, { ...target, ...otherwise }, { daemon, signal })
  if (found && 'dispatch' in found) return throughDaemon(found, { caller, paths, fallback })
  if (isNeeded) throw withoutDaemon(task, found)
  return await attachToThisProcess(caller, paths, found)
}

/** The reason why no daemon is used, and what to do where one is required. */
interface NoDaemonReason {
  why: string
  hint: string
  /** Whether the user could not know it. */
  isUnexpected?: boolean
}

/** Returns how the user opted out of the daemon; undefined when they did not. */
function readOptOut(
  { withoutDaemon, env }: AttachingProcess,
  daemon: AttachOptions['daemon'],
): NoDaemonReason | undefined {
  if (daemon === 'never' || withoutDaemon)
    return { why: '--no-daemon was given', hint: 'run it without --no-daemon' }
  const value = env['CRABTALK_NO_DAEMON']
  if (value === undefined || value === '' || value === '0') return undefined
  return { why: 'CRABTALK_NO_DAEMON is set', hint: 'unset CRABTALK_NO_DAEMON' }
}

const STARTS: ReadonlySet<string> = new Set(['start', 'need'])

/** Returns the daemon to use, else the reason why there is none if the user should know it. */
async function findOrStart(
  caller: AttachingProcess,
  target: DaemonTarget,
  { daemon, signal }: Required<Omit<AttachOptions, 'task'>>,
): Promise<FoundDaemon | NoDaemonReason | undefined> {
  try {
    const found = (await findDaemon(target, signal)) ?? (STARTS.has(daemon) ? await start() : undefined)
    if (!found) return STARTS.has(daemon) ? { why: 'on_demand = false in config.toml', hint: RUN } : undefined
    if (daemon === 'only') return found // answering and following do not use its models
    return (await explainOtherModels(found.info, caller)) ?? found
  } catch (reason) {
    if (daemon === 'need' || daemon === 'only' || signal.aborted) throw reason
    const { message } = toCrabError(reason)
    caller.stderr.write(`crabtalk: running without a daemon: ${message}\n`)
    return { why: message, hint: RUN }
  }

  async function start(): Promise<FoundDaemon | undefined> {
    return (await import('./start-daemon.ts')).startDaemon(caller, target, signal)
  }
}

async function attachToThisProcess(
  caller: AttachingProcess,
  paths: HomePaths,
  { why, hint, isUnexpected }: Partial<NoDaemonReason> = {},
): Promise<RuntimeConnection> {
  const reason = { why, ...(isUnexpected && { hint }) }
  return await (await import('./in-process.ts')).attachInProcess(caller, { paths, ...reason })
}

function toLazyDispatch(attached: Lazy<RuntimeConnection>): Dispatch {
  return async function* dispatch(message, signal) {
    yield* (await attached.get()).dispatch(message, signal)
  }
}

interface Client {
  caller: AttachingProcess
  paths: HomePaths
  /** The runtime in this process that serves requests after the daemon has gone away. */
  fallback: Lazy<RuntimeConnection>
}

function throughDaemon(found: FoundDaemon, { caller, paths, fallback }: Client): RuntimeConnection {
  const { info, olderAt } = found
  warnOtherVersion(info, caller)
  const dispatch =
    olderAt === undefined ? found.dispatch : withOlderDaemonWarning(found.dispatch, olderAt, caller)
  const leases = lazy(() => openLeases(paths, caller.pid))
  return {
    dispatch: withStoredEnd(dispatch),
    place: 'daemon',
    why: undefined,
    olderAt,
    lease: async (resource, signal) => (await leases.get()).take(resource, signal),
    async [Symbol.asyncDispose]() {
      const opened = await Promise.all(
        [leases.current, fallback.current].map((one) => one?.catch(() => undefined)),
      ) // the caller already got the failure
      for (const one of opened) await one?.[Symbol.asyncDispose]()
    },
  }
}

async function openLeases(
  { leases: database, proc }: HomePaths,
  pid: number,
): Promise<Leases & AsyncDisposable> {
  const { SqliteLeases } = await import('../core/lease/sqlite-leases.ts')
  return new SqliteLeases({ database, proc, pid })
}

/**
 * Returns the reason not to use a daemon that would choose other models; undefined when it would choose the
 * same.
 */
async function explainOtherModels(
  { environment }: HelloInfo,
  { env }: AttachingProcess,
): Promise<NoDaemonReason | undefined> {
  const own = Object.keys(environment).filter((name) => env[name])
  if (own.length === 0) return undefined
  const { variableDigest } = await import('./variable-digest.ts')
  const other = own.find((name) => variableDigest(env[name]) !== environment[name])
  if (other === undefined) return undefined
  if (environment[other] === '')
    return {
      why: `the daemon was started without ${other}`,
      hint: 'stop the daemon with crabtalk daemon stop: the next one has it; or unset the variable',
      isUnexpected: true,
    }
  return {
    why: `${other} differs from what the daemon was started with`,
    hint: 'unset the variable, or stop the daemon with crabtalk daemon stop: the next one takes the new value',
    isUnexpected: true,
  }
}

function warnOtherVersion({ build }: HelloInfo, { stderr }: AttachingProcess): void {
  if (build === VERSION || build === '') return
  stderr.write(
    `crabtalk: the daemon is ${build}, this is ${VERSION}: stop it with crabtalk daemon stop, and the next one will be this version\n`,
  )
}

/** Warns once, before the first turn, that this program's rules and permissions do not apply in that daemon. */
function withOlderDaemonWarning(dispatch: Dispatch, at: string, { stderr }: AttachingProcess): Dispatch {
  let isWarned = false
  return async function* noted(message, signal) {
    const isTurn = message.msg?.$case === 'stream' || message.msg?.$case === 'send'
    if (isTurn && !isWarned) {
      const what = 'its own rules decide what agents may do'
      stderr.write(`crabtalk: the process at ${at} speaks an older protocol (no hello): ${what}\n`)
    }
    isWarned ||= isTurn
    yield* dispatch(message, signal)
  }
}

const RUN = 'start one with crabup daemon start, or crabtalk daemon run'

const NOT_RUNNING: NoDaemonReason = { why: 'no daemon is running', hint: RUN }

function withoutDaemon(task: string, { why, hint }: NoDaemonReason = NOT_RUNNING): CrabError {
  return new CrabError('unavailable', `Cannot ${task}: ${why}`, { hint })
}
