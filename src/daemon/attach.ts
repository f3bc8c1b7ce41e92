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

export type { RuntimeConnection as Attached }

export interface AttachOptions {
  /**
   * `use`: the daemon that runs, else this process. `start`: starts one where none runs, and is this process when it
   * cannot. `only` and `need` are the same, but throw instead of being this process; with `only` no turn may be run, and
   * its models do not matter. By default `use`.
   */
  daemon?: 'use' | 'only' | 'start' | 'need' | 'never'
  signal?: AbortSignal
}

/**
 * The daemon of this home, or a runtime inside this process: the caller cannot tell one from the other (decision 15).
 *
 * A daemon that would choose other models than this process is not used (docs/decisions/0104). Fails with `config` on
 * another program's home; where a daemon is needed, with what keeps it from starting, or `unavailable`.
 */
export async function attach(
  caller: AttachingProcess,
  options: AttachOptions = {},
): Promise<RuntimeConnection> {
  const { daemon = 'use', signal = new AbortController().signal } = options
  const paths = homePaths(caller.env, { cwd: caller.cwd(), homeDir: caller.homeDir })
  const optedOut = optOut(caller, daemon)
  const isNeeded = daemon === 'need' || daemon === 'only'
  if (optedOut !== undefined && isNeeded) throw withoutDaemon(optedOut)
  if (optedOut !== undefined) return await inProcess(caller, paths, undefined)
  const here = lazy(() => inProcess(caller, paths, 'the daemon went away'))
  const place: DaemonTarget = { paths, env: caller.env, uid: caller.uid }
  const otherwise = daemon === 'use' ? { otherwise: servedBy(here) } : {}
  const found = await findOrStart(caller, { ...place, ...otherwise }, { daemon, signal })
  if (found && 'dispatch' in found) return throughDaemon(found, { caller, paths, here })
  if (isNeeded) throw withoutDaemon(found)
  return await inProcess(caller, paths, found?.why)
}

/** Why no daemon is used, and what to do where one is needed. */
interface NoDaemonReason {
  why: string
  hint: string
}

/** How a person said that no daemon is to be used. */
function optOut(
  { withoutDaemon, env }: AttachingProcess,
  daemon: AttachOptions['daemon'],
): NoDaemonReason | undefined {
  if (daemon === 'never' || withoutDaemon)
    return { why: '--no-daemon was given', hint: 'do it without --no-daemon' }
  const value = env['CRABTALK_NO_DAEMON']
  if (value === undefined || value === '' || value === '0') return undefined
  return { why: 'CRABTALK_NO_DAEMON is set', hint: 'unset CRABTALK_NO_DAEMON' }
}

const STARTS: ReadonlySet<string> = new Set(['start', 'need'])

/** The daemon to use; else why none is, where that is worth a word. */
async function findOrStart(
  caller: AttachingProcess,
  place: DaemonTarget,
  { daemon, signal }: Required<AttachOptions>,
): Promise<FoundDaemon | NoDaemonReason | undefined> {
  try {
    const found = (await findDaemon(place, signal)) ?? (STARTS.has(daemon) ? await start() : undefined)
    if (!found) return STARTS.has(daemon) ? { why: 'on_demand = false in config.toml', hint: RUN } : undefined
    if (daemon === 'only') return found // who answers or follows needs no models
    return (await otherModels(found.info, caller)) ?? found
  } catch (reason) {
    if (daemon === 'need' || daemon === 'only' || signal.aborted) throw reason
    const { message } = toCrabError(reason)
    caller.stderr.write(`crabtalk: no daemon is used: ${message}\n`)
    return { why: message, hint: RUN }
  }

  async function start(): Promise<FoundDaemon | undefined> {
    return (await import('./start-daemon.ts')).startDaemon(caller, place, signal)
  }
}

async function inProcess(
  caller: AttachingProcess,
  paths: HomePaths,
  why: string | undefined,
): Promise<RuntimeConnection> {
  return await (await import('./in-process.ts')).attachInProcess(caller, { paths, why })
}

function servedBy(attached: Lazy<RuntimeConnection>): Dispatch {
  return async function* dispatch(message, signal) {
    yield* (await attached.get()).dispatch(message, signal)
  }
}

interface Client {
  caller: AttachingProcess
  paths: HomePaths
  /** For when the daemon has gone. */
  here: Lazy<RuntimeConnection>
}

function throughDaemon(found: FoundDaemon, { caller, paths, here }: Client): RuntimeConnection {
  const { info, olderAt } = found
  warnOtherVersion(info, caller)
  const dispatch = olderAt === undefined ? found.dispatch : withNote(found.dispatch, olderAt, caller)
  const leases = lazy(() => openLeases(paths, caller.pid))
  return {
    dispatch: withStoredEnd(dispatch),
    place: 'daemon',
    why: undefined,
    olderAt,
    lease: async (resource, signal) => (await leases.get()).take(resource, signal),
    async [Symbol.asyncDispose]() {
      const made = await Promise.all([leases.current, here.current].map((one) => one?.catch(() => undefined))) // who asked was told
      for (const one of made) await one?.[Symbol.asyncDispose]()
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

/** Why the daemon would choose other models, if it would. */
async function otherModels(
  { environment }: HelloInfo,
  { env }: AttachingProcess,
): Promise<NoDaemonReason | undefined> {
  const own = Object.keys(environment).filter((name) => env[name])
  if (own.length === 0) return undefined
  const { variableDigest } = await import('./variable-digest.ts')
  const other = own.find((name) => variableDigest(env[name]) !== environment[name])
  if (other === undefined) return undefined
  const hint = 'unset it, or end the daemon with `crabtalk daemon stop`: the next one has what is set then'
  return { why: `${other} is not what the daemon has`, hint }
}

function warnOtherVersion({ build }: HelloInfo, { stderr }: AttachingProcess): void {
  if (build === VERSION || build === '') return
  stderr.write(
    `crabtalk: the daemon is ${build}, this is ${VERSION}: end it with \`crabtalk daemon stop\`, and the next one is this version\n`,
  )
}

/** Says once, before the first turn, that rules and permissions of this program do not hold there. */
function withNote(dispatch: Dispatch, at: string, { stderr }: AttachingProcess): Dispatch {
  let isSaid = false
  return async function* noted(message, signal) {
    const isTurn = message.msg?.$case === 'stream' || message.msg?.$case === 'send'
    if (isTurn && !isSaid) {
      const what = 'its own rules decide what agents may do'
      stderr.write(`crabtalk: the process at ${at} speaks an older protocol (no hello): ${what}\n`)
    }
    isSaid ||= isTurn
    yield* dispatch(message, signal)
  }
}

const RUN = 'start one with `crabtalk daemon run`'

function withoutDaemon({ why, hint }: NoDaemonReason = { why: 'none runs', hint: RUN }): CrabError {
  return new CrabError('unavailable', `Cannot do this without a daemon: ${why}`, { hint })
}
