import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { ProviderConfig } from '../../core/config/config.ts'
import { readEnvFile } from '../../core/config/env-file.ts'
import { readConfig } from '../../core/config/load-config.ts'
import { type ConnectChoice, listSavedProviders } from '../../core/connect/choices.ts'
import { type SavedConnection, saveConnection } from '../../core/connect/save-connection.ts'
import { describeKeyHelper, findVaultProvider, toVaultHelper } from '../../core/provider/helper-keys.ts'
import { toProviderKeyName } from '../../edge/credentials/provider-name.ts'
import { HELPER_VARIABLE, KEY_VARIABLE } from '../../edge/vault/key-sources.ts'
import type { Vault } from '../../edge/vault/types.ts'
import { openOrCreateVault, readKeySource } from '../../edge/vault/vault.ts'
import { openVaultHome } from '../vault/home.ts'
import { describeKeySource } from '../vault/items.ts'
import { readProviderKey } from '../vault/provider-key.ts'
import { openConnectHome } from './home.ts'

/** The places where the key of a provider can be stored. */
export type KeyStore = 'vault' | 'config'

/** A connection that was written. */
export interface StoredConnection {
  /** The default model as it is addressed, if one was written. */
  model: string | undefined
  /** The source of the key: `vault`, `config.toml`, `key_helper`, or a variable; null when there is none. */
  key: string | null
  /** Sentences for the user, without a full stop. */
  notes: readonly string[]
}

interface StoreContext {
  host: Host
  /** Undefined: the vault if it can be used, else config.toml. */
  store: KeyStore | undefined
}

/**
 * Writes a connection: its key into the vault, and everything else into config.toml. When that cannot be written, the
 * vault is put back. Throws as the vault and saveConnection() do.
 */
export async function storeConnection(
  saved: SavedConnection,
  { host, store }: StoreContext,
  signal: AbortSignal,
): Promise<StoredConnection> {
  await using home = await openConnectHome(host)
  const { name, table, endpoint } = saved.connection
  const { api_key: key, ...rest } = table
  if (typeof key !== 'string') {
    const model = await saveConnection(home, saved, signal)
    if (rest['key_helper'] !== undefined) return { model, key: 'key_helper', notes: [] }
    return { model, key: endpoint.apiKey === undefined ? null : endpoint.keyFrom, notes: [] }
  }
  await using vaultHome = await openVaultHome(host)
  const opened = store === 'config' ? undefined : await openKeyVault(name, { vaultHome, store }, signal)
  if (!opened || 'problem' in opened) {
    const notes = opened ? [`the key is stored in config.toml: ${opened.problem}`] : []
    return { model: await saveConnection(home, saved, signal), key: 'config.toml', notes }
  }
  const hadKey = (await findProvider(name, host))?.apiKey !== undefined
  const { vault, before, notes } = opened
  const item = toProviderKeyName(name)
  await vault.set({ [item]: key }, signal)
  const connection = { ...saved.connection, table: { ...rest, key_helper: toVaultHelper(name) } }
  try {
    const model = await saveConnection(home, { ...saved, connection }, signal)
    const moved = hadKey ? [`the key of ${name} is in the vault now, and no longer in config.toml`] : []
    return { model, key: 'vault', notes: [...notes, ...moved] }
  } catch (reason) {
    const late = new AbortController().signal
    if (before === undefined) await vault.remove(item, late)
    else await vault.set({ [item]: before }, late)
    throw reason
  }
}

/** Opens the vault, or creates one; `problem` says why it cannot be used. Throws it when the user wants the vault. */
async function openKeyVault(
  name: string,
  { vaultHome, store }: { vaultHome: Awaited<ReturnType<typeof openVaultHome>>; store: KeyStore | undefined },
  signal: AbortSignal,
): Promise<{ vault: Vault; before: string | undefined; notes: string[] } | { problem: string }> {
  try {
    const { vault, created } = await openOrCreateVault(vaultHome, signal)
    const before = await vault.get(toProviderKeyName(name))
    const notes = created ? [`created ${vaultHome.paths.vault}; ${describeKeySource(created)}`] : []
    return { vault, before, notes: [...notes, ...(await listMissingVariables(vaultHome))] }
  } catch (reason) {
    if (store === 'vault' || !(reason instanceof CrabError) || reason.kind === 'cancelled') throw reason
    return { problem: reason.message.replace(/^Cannot /, 'cannot ') }
  }
}

/** Warns when only this shell has the key of the vault: a service could not read the keys of providers. */
async function listMissingVariables(home: Awaited<ReturnType<typeof openVaultHome>>): Promise<string[]> {
  const source = await readKeySource(home)
  if (source !== 'environment' && source !== 'helper') return []
  const variable = source === 'environment' ? KEY_VARIABLE : HELPER_VARIABLE
  const { serviceEnv } = home.paths
  const known = await readEnvFile(serviceEnv).catch(() => ({}) as Record<string, string>) // then it needs the variable, too
  if (known[KEY_VARIABLE] || known[HELPER_VARIABLE]) return []
  return [
    `services cannot open the vault: add the line ${variable}=… of this shell to ${serviceEnv}, or use --store config`,
  ]
}

/** The key that a provider has, and its choice, which has its address. */
export interface SavedKey {
  choice: ConnectChoice
  apiKey: string
  /** The program of the user that printed the key. */
  keyHelper?: readonly string[]
}

/**
 * Finds the key that a provider of config.toml has there, in the vault or from its own helper. Throws when it cannot be read:
 * another key would replace it.
 */
export async function findSavedKey(
  choice: ConnectChoice,
  host: Host,
  signal: AbortSignal,
): Promise<SavedKey | undefined> {
  const provider = await findProvider(choice.saved?.name ?? choice.id, host)
  const [saved] = provider ? listSavedProviders({ providers: [provider] }) : []
  if (!provider || !saved) return undefined
  const { apiKey, keyHelper } = provider
  if (apiKey !== undefined) return { choice: saved, apiKey }
  const inVault = findVaultProvider(keyHelper ?? [])
  if (inVault !== undefined) return { choice: saved, apiKey: await readProviderKey(inVault, host) }
  return (
    keyHelper && {
      choice: saved,
      apiKey: await runKeyHelper(provider.name, { keyHelper, host }, signal),
      keyHelper,
    }
  )
}

async function runKeyHelper(
  name: string,
  { keyHelper, host }: { keyHelper: readonly string[]; host: Host },
  signal: AbortSignal,
): Promise<string> {
  const [{ openProcessHost }, { openHelperKeys }] = await Promise.all([
    import('../../core/process/process-host.ts'),
    import('../../daemon/helper-keys.ts'),
  ])
  const ownCommand = async () => (await host.build()).command
  const node = { env: host.env, paths: resolvePaths(host), ownCommand }
  const keys = openHelperKeys(node, openProcessHost({ pid: host.pid }), signal)
  try {
    return await keys.find(keyHelper, undefined, signal)
  } catch (reason) {
    if (!(reason instanceof CrabError) || reason.kind === 'cancelled') throw reason
    throw new CrabError(reason.kind, `Cannot use the key of ${name}: ${reason.message}`, {
      cause: reason,
      hint: `crabtalk connect ${name} --key-stdin replaces it`,
    })
  }
}

/** Returns the words for the place of a provider's key: `in the vault`, `in config.toml`, or its helper. */
export function describeKeyPlace({ keyHelper }: Pick<ProviderConfig, 'keyHelper'>): string {
  if (keyHelper === undefined) return 'in config.toml'
  return findVaultProvider(keyHelper) === undefined ? `from ${describeKeyHelper(keyHelper)}` : 'in the vault'
}

async function findProvider(name: string, host: Host): Promise<ProviderConfig | undefined> {
  const config = await readConfig(resolvePaths(host))
  return config.ok ? config.value.providers.find((provider) => provider.name === name) : undefined
}
