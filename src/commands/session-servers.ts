import type { Host } from '../cli/host.ts'
import { resolvePaths } from '../cli/paths.ts'
import { lazy } from '../core/base/lazy.ts'
import type { CredentialResolver } from '../edge/credentials/types.ts'
import type { SessionPlace } from '../edge/entries/types.ts'

/** Returns the directory whose files declare servers, by default the working directory of the process. */
export function toSessionPlace(host: Host, cwd = host.cwd()): SessionPlace {
  const { uid, homeDir, env } = host
  return { cwd, uid, homeDir, env, paths: resolvePaths(host) }
}

/**
 * Returns the resolver of the variables that servers name: the vault, the `.env` of the home, and the environment.
 * Nothing is opened before the first variable, and no lease is taken.
 */
export function openResolver(host: Host): CredentialResolver {
  const resolver = lazy(async () => {
    const { openCredentials, openVaultHome } = await import('./vault/home.ts')
    return openCredentials(await openVaultHome(host))
  })
  return { find: async (name) => (await resolver.get()).find(name) }
}

/** Whether the user turned MCP servers off for all commands, with `CRABTALK_NO_MCP`. */
export function isMcpOff({ env }: Pick<Host, 'env'>): boolean {
  const value = env['CRABTALK_NO_MCP'] ?? ''
  return value !== '' && value !== '0'
}
