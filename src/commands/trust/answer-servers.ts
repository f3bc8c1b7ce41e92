import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { TrustStore } from '../../core/trust/trust-store.ts'
import type { UntrustedFile } from '../../edge/entries/server-trust.ts'

/** Stores the user's answer about the content of a file of servers that was shown. */
export async function answerServers(
  host: Host,
  { file, isTrusted }: { file: Pick<UntrustedFile, 'path' | 'digest' | 'summaries'>; isTrusted: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { path, digest, summaries: servers } = file
  const state = isTrusted ? 'trusted' : 'untrusted'
  await withTrustStore(host, (store) => store.answerServers({ path, digest, state, servers }, signal))
}

/** Opens trust.toml for changes while `work` runs. */
export async function withTrustStore<T>(host: Host, work: (store: TrustStore) => Promise<T>): Promise<T> {
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  const { trust: path, leases: database, proc } = resolvePaths(host)
  await using leases = new SqliteLeases({ database, proc, pid: host.pid })
  const lock = (resource: string, signal: AbortSignal) => leases.take(resource, signal)
  return await work(new TrustStore({ path, lock, now: Date.now }))
}
