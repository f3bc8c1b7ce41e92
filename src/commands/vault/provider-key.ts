import type { CommandHandler } from '../../cli/command.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toProviderKeyName } from '../../edge/credentials/provider-name.ts'
import { openVault } from '../../edge/vault/vault.ts'
import { openVaultHome, type VaultHost } from './home.ts'

/** Runs `crabtalk vault key`, which providers in config.toml have as `key_helper`. */
export const providerKeyCommand: CommandHandler = async ({ options, host }) => {
  const [provider = ''] = options.args
  if (host.stdout.isTerminal && !options.has('reveal')) {
    throw new CrabError('denied', `Cannot print the key of ${provider}: it would be shown on the terminal`, {
      hint: '--reveal prints it anyway',
    })
  }
  host.stdout.write(`${await readProviderKey(provider, host)}\n`)
  return 0
}

/** Returns the key of a model provider from the vault. Throws `credentials` when it is not there, or as the vault does. */
export async function readProviderKey(provider: string, host: VaultHost): Promise<string> {
  await using home = await openVaultHome(host)
  const key = await (await openVault(home))?.get(toProviderKeyName(provider))
  if (key) return key
  throw new CrabError('credentials', `Cannot find the key of ${provider}: the vault does not have it`, {
    hint: `crabtalk connect ${provider}`,
  })
}
