import { join } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { createFile } from '../../core/base/files.ts'
import { readConfig } from '../../core/config/load-config.ts'
import { type ConnectChoice, findConnectChoice, listConnectChoices } from '../../core/connect/choices.ts'
import { type ProviderConnection, toConnection } from '../../core/connect/connection.ts'
import { tryConnection, tryModel } from '../../core/connect/try-connection.ts'
import type { ProviderInput, ProviderSetup } from '../../tui/ports.ts'
import { listSavedChoices } from '../connect/home.ts'
import { describeKeyPlace, findSavedKey, storeConnection } from '../connect/key-store.ts'

/** Opens the setup of model providers for a chat. Keys stay in this process until they are saved. */
export function openProviderSetup(host: Host): ProviderSetup {
  let choices: readonly ConnectChoice[] = []
  let last: ProviderConnection | undefined
  let contexts: ReadonlyMap<string, number> = new Map()
  const toLast = async (
    { id, baseUrl, apiKey }: ProviderInput,
    signal: AbortSignal,
  ): Promise<ProviderConnection> => {
    const choice = choices.find((one) => one.id === id) ?? findConnectChoice(id, host.env)
    const saved =
      apiKey === undefined && baseUrl === undefined ? await findSavedKey(choice, host, signal) : undefined
    return toConnection({ baseUrl, ...(saved ?? { choice, apiKey }) }, host.env)
  }
  const requireLast = (): ProviderConnection => {
    if (last) return last
    throw new CrabError('invalid', 'Cannot connect: no provider was chosen')
  }
  return {
    async list(signal) {
      choices = [...(await listSavedChoices(host)), ...(await listConnectChoices(host.env, signal))]
      return choices.map(({ saved: provider, ...choice }) => ({
        ...choice,
        ...(provider && { savedAddress: provider.baseUrl ?? '', keyPlace: describeKeyPlace(provider) }),
      }))
    },
    async tryProvider(input, signal) {
      if (input) last = await toLast(input, signal)
      const offered = await tryConnection(requireLast(), host.env, signal)
      contexts = offered.contexts
      return offered
    },
    async save(model, { tries }, signal) {
      const connection = requireLast()
      if (tries && model !== undefined) await tryModel(connection, model, host.env, signal)
      const saved = { connection, model, context: contexts.get(model ?? '') }
      const { key, notes, ...written } = await storeConnection(saved, { host, store: undefined }, signal)
      last = undefined
      const place = key === 'vault' ? 'saved in config.toml, the key in the vault' : 'saved in config.toml'
      return { model: written.model, place: [place, ...notes].join('; ') }
    },
    async claimFirstOffer() {
      const paths = resolvePaths(host)
      const config = await readConfig(paths)
      if (!config.ok || config.value.defaultModel !== undefined || config.value.providers.length > 0)
        return false
      return await createFile(join(paths.cache, 'connect-offered'), '')
    },
  }
}
