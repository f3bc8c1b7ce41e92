import { silentLog } from '../core/base/log.ts'
import { refuseForeignHome } from '../core/config/foreign-home.ts'
import { homePaths } from '../core/config/paths.ts'
import type { Lease } from '../core/lease/types.ts'
import { type Dispatch, route } from '../core/protocol/dispatch.ts'
import { compose } from './compose.ts'
import { handlers } from './handlers/handlers.ts'

/** A way to the runtime of this home directory; disposing lets go of it. */
export interface Attached extends AsyncDisposable {
  readonly dispatch: Dispatch
  /** Waits for an exclusive right among all processes of this home, such as that to ask on a terminal. */
  lease(resource: string, signal: AbortSignal): Promise<Lease>
}

/** Who attaches. */
export interface Caller {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  cwd(): string
  /** The person's own directory; empty when the system knows none. */
  readonly homeDir: string
  /** The path of the ripgrep that comes with the caller, unpacked in that folder where it must be. */
  ripgrep(folder: string): Promise<string | undefined>
}

/** A runtime inside this process (decision 15); the caller cannot tell it from a daemon's. Fails with `config` on another program's home. */
export async function attach(caller: Caller): Promise<Attached> {
  const cwd = caller.cwd()
  const { homeDir } = caller
  const paths = homePaths(caller.env, { cwd, homeDir })
  await refuseForeignHome(paths)
  const services = compose({
    paths,
    env: caller.env,
    pid: caller.pid,
    cwd,
    homeDir,
    ripgrep: caller.ripgrep,
    log: silentLog,
  })
  return {
    dispatch: route(handlers(services, 'process')),
    lease: (resource, signal) => services.place.leases.take(resource, signal),
    [Symbol.asyncDispose]: () => services[Symbol.asyncDispose](),
  }
}
