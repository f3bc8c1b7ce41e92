import type { LoginHost } from '../../edge/oauth/log-in.ts'
import type { LoginVault } from '../../edge/oauth/login-store.ts'
import type { Vault } from '../../edge/vault/types.ts'
import { openOrCreateVault, openVault } from '../../edge/vault/vault.ts'
import { openVaultHome, type VaultHost } from '../vault/home.ts'

/** The logins of a home. */
export interface LoginHome extends LoginHost, AsyncDisposable {}

/**
 * Opens the logins of a home. The vault is created with the first login, and `onVault` then gets the source of its
 * key; without a vault there are no logins. `isQuiet` as in VaultHome: for refreshes, which no user makes.
 */
export async function openLoginHome(
  host: VaultHost,
  { onVault, isQuiet = false }: { onVault?: (keySource: string) => void; isQuiet?: boolean } = {},
): Promise<LoginHome> {
  const home = { ...(await openVaultHome(host)), isQuiet }
  let known: Vault | undefined
  const open = async () => (known ??= await openVault(home))
  const vault: LoginVault = {
    get: async (name) => await (await open())?.get(name),
    async set(values, signal) {
      if (!(await open())) {
        const { vault: opened, created } = await openOrCreateVault(home, signal)
        known = opened
        if (created) onVault?.(created.keySource)
      }
      await known?.set(values, signal)
    },
    remove: async (name, signal) => (await (await open())?.remove(name, signal)) ?? false,
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
