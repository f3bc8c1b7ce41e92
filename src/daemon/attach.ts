import { CrabError, toCrabError } from '../core/base/errors.ts'
import { VERSION } from '../core/base/version.ts'
import { type HomePaths, homePaths } from '../core/config/paths.ts'
import type { HelloInfo } from '../core/protocol/crabtalk.generated.ts'
import type { Attached } from './attached.ts'
import type { Caller } from './caller.ts'
import { type FoundDaemon, findDaemon } from './find-daemon.ts'

export type { Attached }

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
export async function attach(caller: Caller, options: AttachOptions = {}): Promise<Attached> {
  const { daemon = 'use', signal = new AbortController().signal } = options
  const paths = homePaths(caller.env, { cwd: caller.cwd(), homeDir: caller.homeDir })
  const found = await find(caller, paths, { daemon, signal })
  if (typeof found === 'object') return await throughDaemon(found, caller, paths)
  if (daemon === 'need' || daemon === 'only') throw withoutDaemon(found)
  return await (await import('./in-process.ts')).attachInProcess(caller, { paths, why: found })
}

const STARTS: ReadonlySet<string> = new Set(['start', 'need'])

/** The daemon to use; else why none is, where that is worth a word. */
async function find(
  caller: Caller,
  paths: HomePaths,
  { daemon, signal }: Required<AttachOptions>,
): Promise<FoundDaemon | string | undefined> {
  if (daemon === 'never' || caller.withoutDaemon) return '--no-daemon'
  if (isSet(caller.env['CRABTALK_NO_DAEMON'])) return 'CRABTALK_NO_DAEMON is set'
  const place = { paths, env: caller.env, uid: caller.uid }
  try {
    const found = (await findDaemon(place, signal)) ?? (STARTS.has(daemon) ? await start() : undefined)
    if (!found) return STARTS.has(daemon) ? 'on_demand = false in config.toml' : undefined
    const isForTurns = daemon !== 'only' // who answers or follows needs no models
    return (isForTurns ? await otherModels(found.info, caller) : undefined) ?? found
  } catch (reason) {
    if (daemon === 'need' || daemon === 'only' || signal.aborted) throw reason
    const { message } = toCrabError(reason)
    caller.stderr.write(`crabtalk: no daemon is used: ${message}\n`)
    return message
  }

  async function start(): Promise<FoundDaemon | undefined> {
    return (await import('./start-daemon.ts')).startDaemon(caller, place, signal)
  }
}

async function throughDaemon(
  { dispatch, info }: FoundDaemon,
  caller: Caller,
  paths: HomePaths,
): Promise<Attached> {
  tellOtherVersion(info, caller)
  let leases: Promise<AsyncDisposable & Pick<Attached, 'lease'>> | undefined
  return {
    dispatch,
    place: 'daemon',
    why: undefined,
    async lease(resource, signal) {
      leases ??= openLeases(paths, caller.pid)
      return (await leases).lease(resource, signal)
    },
    async [Symbol.asyncDispose]() {
      await (await leases)?.[Symbol.asyncDispose]()
    },
  }
}

async function openLeases({ leases: database, proc }: HomePaths, pid: number) {
  const { SqliteLeases } = await import('../core/lease/sqlite-leases.ts')
  const leases = new SqliteLeases({ database, proc, pid })
  return {
    lease: (resource: string, signal: AbortSignal) => leases.take(resource, signal),
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}

/** Why the daemon would choose other models, if it would. */
async function otherModels({ environment }: HelloInfo, { env }: Caller): Promise<string | undefined> {
  const own = Object.keys(environment).filter((name) => env[name])
  if (own.length === 0) return undefined
  const { variableDigest } = await import('./variable-digest.ts')
  const other = own.find((name) => variableDigest(env[name]) !== environment[name])
  return other && `${other} is not what the daemon has`
}

function tellOtherVersion({ build }: HelloInfo, { stderr }: Caller): void {
  if (build === VERSION || build === '') return
  stderr.write(
    `crabtalk: the daemon is ${build}, this is ${VERSION}: end it with \`crabtalk daemon stop\`, and the next one is this version\n`,
  )
}

function withoutDaemon(why: string | undefined): CrabError {
  return new CrabError('unavailable', `Cannot do this without a daemon: ${why ?? 'none runs'}`, {
    hint: 'start one with `crabtalk daemon run`',
  })
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0'
}
