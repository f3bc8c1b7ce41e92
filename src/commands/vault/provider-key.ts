import { platform } from 'node:os'
import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toProviderKeyName } from '../../edge/credentials/provider-name.ts'
import type { VaultHome } from '../../edge/vault/types.ts'
import { openVault } from '../../edge/vault/vault.ts'
import type { VaultHost } from './home.ts'

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

/**
 * Returns the key of a model provider from the vault. The first model call of every command waits for it, so it loads
 * only what reading needs. Throws `credentials` when the key is not there, or as the vault does.
 */
export async function readProviderKey(provider: string, host: VaultHost): Promise<string> {
  const key = await (await openVault(toReadOnlyHome(host)))?.get(toProviderKeyName(provider))
  if (key) return key
  throw new CrabError('credentials', `Cannot find the key of ${provider}: the vault does not have it`, {
    hint: `crabtalk connect ${provider}`,
  })
}

function toReadOnlyHome(host: VaultHost): VaultHome {
  return {
    paths: resolvePaths(host),
    env: host.env,
    platform: platform(),
    lock: () => Promise.reject(new Error('reading takes no lease')),
    run: async (...call) => (await import('../../core/process/run-tool.ts')).runTool(...call),
    now: Date.now,
  }
}
