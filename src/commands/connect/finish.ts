import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { type ConnectChoice, findConnectChoice, OTHER_PROVIDER } from '../../core/connect/choices.ts'
import { type SavedConnection, saveConnection } from '../../core/connect/save-connection.ts'
import { listSavedChoices, openConnectHome } from './home.ts'

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
  await using home = await openConnectHome(host)
  const written = await saveConnection(home, saved, signal)
  const { name, title, endpoint, table } = saved.connection
  const key = 'api_key' in table ? 'config.toml' : endpoint.apiKey === undefined ? null : endpoint.keyFrom
  if (options.has('json')) {
    return printJson(host, {
      provider: name,
      model: written ?? null,
      key,
      checked: isChecked,
      config: home.paths.config,
    })
  }
  const how = isChecked ? 'Connected' : 'Saved without a check:'
  const shown = written === undefined ? '' : `, default model ${written}`
  host.stdout.write(sanitize(`${how} ${title}${shown} (${home.paths.config})\n`))
  return 0
}
