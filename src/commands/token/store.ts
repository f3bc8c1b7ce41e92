import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import { SqliteLeases } from '../../core/lease/sqlite-leases.ts'

/**
 * Opens the tokens of a home for changes, with the leases that exclude other processes. Disposing releases
 * them.
 */
export async function openTokens(host: Host) {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  return {
    run: paths.run,
    lock: (resource: string, signal: AbortSignal) => leases.take(resource, signal),
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}
