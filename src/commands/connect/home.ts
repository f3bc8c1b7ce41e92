import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import { readConfig } from '../../core/config/load-config.ts'
import { type ConnectChoice, listSavedProviders } from '../../core/connect/choices.ts'
import type { ConnectHome } from '../../core/connect/save-connection.ts'
import { SqliteLeases } from '../../core/lease/sqlite-leases.ts'

/**
 * Opens the home of this process for a new connection, with the leases that exclude other processes.
 * Disposing releases them.
 */
export async function openConnectHome(
  host: Pick<Host, 'env' | 'pid' | 'cwd' | 'homeDir'>,
): Promise<ConnectHome & AsyncDisposable> {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  return {
    paths,
    env: host.env,
    lock: (resource, signal) => leases.take(resource, signal),
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}

/** Lists the providers of config.toml whose key can be replaced; none when the file is not valid. */
export async function listSavedChoices(
  host: Pick<Host, 'env' | 'pid' | 'cwd' | 'homeDir'>,
): Promise<ConnectChoice[]> {
  const config = await readConfig(resolvePaths(host))
  return config.ok ? listSavedProviders(config.value) : []
}
