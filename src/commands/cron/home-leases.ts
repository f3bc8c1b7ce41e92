import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import type { RuntimeConnection } from '../../daemon/runtime-connection.ts'

/** Opens the leases of the home, for changes of its files by a command that is not connected to the agents. */
export async function openHomeLeases(
  host: Pick<Host, 'env' | 'cwd' | 'homeDir' | 'pid'>,
): Promise<AsyncDisposable & Pick<RuntimeConnection, 'lease'>> {
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  const { leases: database, proc } = resolvePaths(host)
  const leases = new SqliteLeases({ database, proc, pid: host.pid })
  return {
    lease: (resource, signal) => leases.take(resource, signal),
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}
