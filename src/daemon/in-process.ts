import { silentLog } from '../core/base/log.ts'
import { sanitize } from '../core/base/sanitize.ts'
import { refuseForeignHome } from '../core/config/foreign-home.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { route } from '../core/protocol/dispatch.ts'
import type { AttachingProcess } from './attaching-process.ts'
import { compose } from './compose.ts'
import { handlers } from './handlers/handlers.ts'
import type { RuntimeConnection } from './runtime-connection.ts'
import type { Services } from './services.ts'

/** Opens a runtime inside this process. Fails with `config` when the home belongs to another program. */
export async function attachInProcess(
  caller: AttachingProcess,
  { paths, why, hint }: { paths: HomePaths } & Pick<RuntimeConnection, 'why' | 'hint'>,
): Promise<RuntimeConnection> {
  const services = await composeInProcess(caller, paths)
  await services.migrate((_, message) => caller.stderr.write(sanitize(`crabtalk: ${message}\n`)))
  return {
    dispatch: route(handlers(services, 'process')),
    place: 'process',
    why,
    hint,
    lease: (resource, signal) => services.stores.leases.take(resource, signal),
    [Symbol.asyncDispose]: () => services[Symbol.asyncDispose](),
  }
}

/** Composes the services of a home inside this process. Fails with `config` when the home belongs to another program. */
export async function composeInProcess(caller: AttachingProcess, paths: HomePaths): Promise<Services> {
  await refuseForeignHome(paths)
  const { env, pid, uid, homeDir, ripgrep, searchWorker, isInteractive = false, readVaultKey } = caller
  return compose({
    paths,
    env,
    pid,
    uid,
    cwd: caller.cwd(),
    homeDir,
    ripgrep,
    searchWorker,
    ownCommand: async () => (await caller.build()).command,
    readVaultKey,
    isInteractive,
    log: silentLog,
  })
}
