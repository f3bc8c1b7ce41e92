import type { JsonObject } from '../base/message.ts'
import { changeConfig } from '../config/change-config.ts'
import { toConfig } from '../config/config.ts'
import { withContextWindow, withModel } from '../config/default-model.ts'
import type { HomePaths } from '../config/paths.ts'
import { isTable } from '../config/schema.ts'
import { parseToml } from '../config/toml.ts'
import { renderToml } from '../config/toml-render.ts'
import { configError } from '../config/validation-issue.ts'
import { openModels } from '../provider/discover.ts'
import { endpointFromEnv } from '../provider/endpoint.ts'
import type { Env } from '../provider/env.ts'
import { knownFacts } from '../provider/facts.ts'
import { PRESETS } from '../provider/presets.ts'
import type { ProviderConnection } from './connection.ts'

/** The home in which a connection is saved. */
export interface ConnectHome {
  paths: Pick<HomePaths, 'config'>
  env: Env
  /** Acquires a lease that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/** A connection to write, with the default model if one was chosen. */
export interface SavedConnection {
  connection: ProviderConnection
  model: string | undefined
  /** The context window of the model in tokens, if the provider reports it. */
  context?: number | undefined
}

/**
 * Writes a provider with its key, and the default model if one is given, into config.toml, which only the
 * user can read. A provider of the same name is replaced, except for what the user did not give, and comments are kept. Returns the default model as it
 * was written: `PROVIDER/NAME` where the name alone would mean a model of another provider.
 *
 * Throws `config`, and writes nothing, when config.toml is not valid.
 */
export async function saveConnection(
  { paths, env, lock }: ConnectHome,
  { connection, model, context }: SavedConnection,
  signal: AbortSignal,
): Promise<string | undefined> {
  await using _ = await lock(`file:${paths.config}`, signal)
  let written: string | undefined
  await changeConfig(paths, async (table) => {
    const connected = withWindow(withProvider(table, { connection, model }, env), {
      connection,
      model,
      context,
    })
    written =
      model === undefined ? undefined : await addressModel(connected, { connection, model }, env, signal)
    return written === undefined ? connected : withModel(connected, written)
  })
  return written
}

/**
 * Adds or replaces the provider's table. The first table would hide the providers whose keys are in the
 * environment, so these get tables without keys.
 */
function withProvider(
  table: JsonObject,
  { connection: { name, table: added, keepsSaved }, model }: SavedConnection,
  env: Env,
): JsonObject {
  const providers = Array.isArray(table['providers']) ? table['providers'].filter(isTable) : []
  const before = providers.find((provider) => provider['name'] === name)
  if (before) {
    const connected = keepsSaved
      ? withSavedConnection(before, added)
      : { ...withoutConnection(before), ...added }
    const merged = { ...connected, ...withListed(before, model) }
    return { ...table, providers: providers.map((provider) => (provider === before ? merged : provider)) }
  }
  const isFirst = providers.length === 0 && !isTable(table['llm'])
  return { ...table, providers: [...providers, added, ...(isFirst ? listEnvProviders(env, name) : [])] }
}

/** Adds the context window of the model, unless the table of known models has the same. */
function withWindow(table: JsonObject, { connection, model, context: tokens }: SavedConnection): JsonObject {
  if (model === undefined || tokens === undefined || knownFacts(model).context === tokens) return table
  return withContextWindow(table, { provider: connection.name, model, tokens })
}

/** Removes what a new connection replaces. */
function withoutConnection(table: JsonObject): JsonObject {
  const { api_key: _, key_helper: __, base_url: ___, region: ____, ...rest } = table
  return rest
}

/** Adds what a table lacks. A key of the table is for its address, so it gets no other one. */
function withSavedConnection(before: JsonObject, added: JsonObject): JsonObject {
  const hasKey = before['api_key'] !== undefined || before['key_helper'] !== undefined
  const isNew = ([key]: [string, unknown]) =>
    key === 'region' || (before[key] === undefined && !(hasKey && key === 'base_url'))
  return { ...before, ...Object.fromEntries(Object.entries(added).filter(isNew)) }
}

/** Adds the model to a provider's list of its models, if it has one. */
function withListed({ models }: JsonObject, model: string | undefined): JsonObject {
  if (!Array.isArray(models)) return {}
  const isListed = models.some((entry) => (isTable(entry) ? entry['name'] : entry) === model)
  return { models: model === undefined || isListed ? models : [...models, model] }
}

function listEnvProviders(env: Env, except: string): JsonObject[] {
  return PRESETS.filter((preset) => preset.name !== except && endpointFromEnv(preset, env) !== undefined).map(
    ({ name, kind, baseUrl }) => ({ name, kind, ...(kind === 'openai-compatible' && { base_url: baseUrl }) }),
  )
}

/** Returns the shortest name that resolves to this provider's model. */
async function addressModel(
  table: JsonObject,
  { connection, model }: { connection: ProviderConnection; model: string },
  env: Env,
  signal: AbortSignal,
): Promise<string> {
  const { model: _, ...rest } = table
  const document = parseToml('config.toml', renderToml(rest))
  if (!document.ok) throw configError(document.problems)
  const config = toConfig(document.value)
  if (!config.ok) throw configError(config.problems)
  const full = `${connection.name}/${model}`
  const registry = await openModels({ config: { ...config.value, defaultModel: full }, env }, signal)
  const { provider, model: own } = registry.locate(model)
  return provider === connection.name && own === model ? model : full
}
