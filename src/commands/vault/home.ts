import { platform } from 'node:os'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { SqliteLeases } from '../../core/lease/sqlite-leases.ts'
import { runTool } from '../../core/process/run-tool.ts'
import { newCredentialResolver } from '../../edge/credentials/resolver.ts'
import type { CredentialResolver } from '../../edge/credentials/types.ts'
import type { VaultHome } from '../../edge/vault/types.ts'
import { openVault } from '../../edge/vault/vault.ts'

/** The parts of a host that its vault needs. */
export type VaultHost = Pick<Host, 'env' | 'pid' | 'cwd' | 'homeDir'>

/** The home of this process with its vault, and the leases that exclude other processes. */
export interface OpenVaultHome extends VaultHome, AsyncDisposable {
  paths: HomePaths
}

/**
 * Opens the home of this process for its vault. Disposing releases the leases. Throws `config` for a home of the
 * Rust implementation.
 */
export async function openVaultHome(host: VaultHost): Promise<OpenVaultHome> {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  const leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  return {
    paths,
    env: host.env,
    platform: platform(),
    lock: (resource, signal) => leases.take(resource, signal),
    run: runTool,
    now: Date.now,
    [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose](),
  }
}

/** Returns the resolver of a home: its vault, its `.env` and the environment, and then `ask` if there is a user. */
export function openCredentials(
  home: OpenVaultHome,
  ask?: (name: string) => Promise<string | undefined>,
): CredentialResolver {
  const { paths, env } = home
  return newCredentialResolver({
    vault: () => openVault(home),
    dotEnv: paths.dotEnv,
    env,
    ...(ask && { ask }),
  })
}
