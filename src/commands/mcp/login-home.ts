import type { LoginHost } from '../../edge/oauth/log-in.ts'
import type { LoginVault } from '../../edge/oauth/login-store.ts'
import { openOrCreateVault, openVault } from '../../edge/vault/vault.ts'
import { openVaultHome, type VaultHost } from '../vault/home.ts'

/** The logins of a home. */
export interface LoginHome extends LoginHost, AsyncDisposable {}

/**
 * Opens the logins of a home. The vault is created with the first login, and `onVault` then gets the source of its
 * key; without a vault there are no logins.
 */
export async function openLoginHome(
  host: VaultHost,
  onVault: (keySource: string) => void = () => {},
): Promise<LoginHome> {
  const home = await openVaultHome(host)
  const vault: LoginVault = {
    get: async (name) => await (await openVault(home))?.get(name),
    async set(values, signal) {
      const { vault: opened, created } = await openOrCreateVault(home, signal)
      await opened.set(values, signal)
      if (created) onVault(created.keySource)
    },
    remove: async (name, signal) => (await (await openVault(home))?.remove(name, signal)) ?? false,
  }
  return {
    vault,
    lock: home.lock,
    hasProxy: PROXIES.some((name) => host.env[name] || host.env[name.toLowerCase()]),
    now: home.now,
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
