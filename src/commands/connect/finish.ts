import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { type ConnectChoice, findConnectChoice, OTHER_PROVIDER } from '../../core/connect/choices.ts'
import type { SavedConnection } from '../../core/connect/save-connection.ts'
import { listSavedChoices } from './home.ts'
import { findSavedKey, type KeyStore, type SavedKey, storeConnection } from './key-store.ts'

/** Returns the provider that the command line names; undefined when it names none. */
export async function readProviderChoice(
  { args, has }: ParsedOptions,
  host: Host,
): Promise<ConnectChoice | undefined> {
  const name = args[0] ?? (has('base-url') ? OTHER_PROVIDER : undefined)
  if (name === undefined) return undefined
  try {
    return findConnectChoice(name, host.env)
  } catch (reason) {
    const saved = await listSavedChoices(host)
    return saved.find(({ title }) => title === name) ?? throwReason(reason)
  }
}

/**
 * Returns the key that a provider has already, with the address that it is for; none if the user gives an address. Throws as
 * findSavedKey() does.
 */
export async function withSavedKey(
  choice: ConnectChoice,
  baseUrl: string | undefined,
  host: Host,
  signal: AbortSignal,
): Promise<Pick<SavedKey, 'choice' | 'keyHelper'> & { apiKey: string | undefined }> {
  const saved = baseUrl !== undefined ? undefined : await findSavedKey(choice, host, signal)
  return saved ?? { choice, apiKey: undefined }
}

function throwReason(reason: unknown): never {
  throw reason
}

/** A connection to write, and whether it was tried. */
export interface ConnectReport extends SavedConnection {
  isChecked: boolean
}

/** Writes a connection and reports it. */
export async function finishConnect(
  host: Host,
  { isChecked, ...saved }: ConnectReport,
  options: ParsedOptions,
  signal: AbortSignal,
): Promise<number> {
  const store = options.value('store') as KeyStore | undefined
  const { model: written, key, notes } = await storeConnection(saved, { host, store }, signal)
  const { name, title } = saved.connection
  for (const note of notes) host.stderr.write(sanitize(`crabtalk: ${note}\n`))
  const { config } = resolvePaths(host)
  if (options.has('json')) {
    return printJson(host, {
      provider: name,
      model: written ?? null,
      key,
      checked: isChecked,
      config,
    })
  }
  const how = isChecked ? 'Connected' : 'Saved without a check:'
  const shown = written === undefined ? '' : `, default model ${written}`
  const place = key === 'vault' ? `${config}, the key in the vault` : config
  host.stdout.write(sanitize(`${how} ${title}${shown} (${place})\n`))
  return 0
}
