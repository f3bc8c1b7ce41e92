import type { CrabError } from '../core/base/errors.ts'
import { ERROR_KINDS, toCrabError } from '../core/base/errors.ts'
import type { JsonObject } from '../core/base/message.ts'
import { parseHttpUrl } from '../core/base/server-address.ts'
import { changeConfig } from '../core/config/change-config.ts'
import { normalizeBaseUrl } from '../core/config/config.ts'
import { withModel } from '../core/config/default-model.ts'
import { readEnvFile, setInEnvFile } from '../core/config/env-file.ts'
import { loadConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { openModels } from '../core/provider/discover.ts'
import { endpointFromEnv, localModelEndpoint, type ModelEndpoint } from '../core/provider/endpoint.ts'
import { fetchModels } from '../core/provider/list-models.ts'
import { modelVariables } from '../core/provider/model-variables.ts'
import { LOCAL_SERVERS, PRESETS, type Preset } from '../core/provider/presets.ts'

/** The home whose models are set up. */
export interface ModelSetup {
  paths: HomePaths
  /** Acquires a lease that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/** The models that a service would have if it were started now. */
export type ServiceModels =
  | { kind: 'demo' }
  | { kind: 'local'; server: string; model: string }
  | { kind: 'own' }

/** The variables of a shell that determine the available models and that a service does not see. */
export interface ShellKeys {
  /** The variables that are not in service.env. */
  absent: readonly string[]
  /** The variables with a different value in service.env. */
  different: readonly string[]
}

/** The models of a server, or the reason why it does not list them. */
export interface ServerModels {
  names: readonly string[]
  problem?: CrabError
  /** Whether the server refused the key, so that another one is needed. */
  isRefused: boolean
}

/** The providers that need only a key. */
export const KEY_PROVIDERS: readonly Preset[] = PRESETS.filter(
  ({ kind }) => kind !== 'bedrock' && kind !== 'azure',
)

/** Determines which models services would have, from config.toml, service.env and the servers of this machine. */
export async function findServiceModels(paths: HomePaths, signal: AbortSignal): Promise<ServiceModels> {
  const config = await loadConfig(paths)
  const registry = await openModels({ config, env: await readEnvFile(paths.serviceEnv) }, signal)
  if (config.defaultModel !== undefined && registry.defaultError) throw registry.defaultError
  if (config.defaultModel !== undefined || config.providers.length > 0) return { kind: 'own' }
  try {
    const model = registry.defaultModel()
    const server = registry.getSource(model).name
    if (server === 'demo') return { kind: 'demo' }
    return LOCAL_SERVERS.some(({ name }) => name === server)
      ? { kind: 'local', server, model }
      : { kind: 'own' }
  } catch {
    return { kind: 'own' } // the daemon reports the error
  }
}

/**
 * Finds the keys of a shell that a service lacks. Temporary AWS credentials are left out, because they
 * expire soon.
 */
export async function findShellKeys(
  paths: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ShellKeys> {
  const own = await readEnvFile(paths.serviceEnv)
  const names = modelVariables(await loadConfig(paths), env).filter(
    (name) => env[name] && !(env['AWS_SESSION_TOKEN'] && name.startsWith('AWS_')),
  )
  return {
    absent: names.filter((name) => !own[name]),
    different: names.filter((name) => own[name] && own[name] !== env[name]),
  }
}

/** Writes variables of a shell into service.env. Throws like setInEnvFile(). */
export async function saveShellKeys(
  { serviceEnv }: Pick<HomePaths, 'serviceEnv'>,
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Promise<void> {
  await setInEnvFile(serviceEnv, Object.fromEntries(names.map((name) => [name, env[name]!])))
}

/** Fetches the models that a provider offers for a key. */
export async function fetchProviderModels(
  preset: Preset,
  key: string,
  signal: AbortSignal,
): Promise<ServerModels> {
  const endpoint = endpointFromEnv(preset, { [preset.keys[0]]: key })
  return endpoint ? await fetchServerModels(endpoint, signal) : { names: [], isRefused: false }
}

/** Fetches the models of a server that speaks OpenAI's protocol; the key may be empty. */
export async function fetchOwnModels(
  baseUrl: string,
  key: string,
  signal: AbortSignal,
): Promise<ServerModels> {
  const apiKey = key === '' ? undefined : key
  return await fetchServerModels({ ...localModelEndpoint('llm', 0), baseUrl, where: baseUrl, apiKey }, signal)
}

/** Parses the base URL of a server; undefined when it is not an http address. */
export function parseServerUrl(text: string): string | undefined {
  return parseHttpUrl(text) ? normalizeBaseUrl(text) : undefined
}

/** Saves the key of a provider in service.env, and the default model, if any, in config.toml. */
export async function saveProvider(
  setup: ModelSetup,
  { preset, key, model }: { preset: Preset; key: string; model: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  await setInEnvFile(setup.paths.serviceEnv, { [preset.keys[0]]: key })
  if (model !== undefined) await change(setup, (table) => withModel(table, model), signal)
}

/** Saves a server as the `[llm]` table of config.toml. */
export async function saveServer(
  setup: ModelSetup,
  { baseUrl, key, model }: { baseUrl: string; key: string; model: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const llm = {
    base_url: baseUrl,
    ...(key !== '' && { api_key: key }),
    ...(model !== undefined && { model }),
  }
  await change(setup, (table) => ({ ...table, llm }), signal)
}

/** Saves a model server that was found on this machine. */
export async function saveLocalServer(
  setup: ModelSetup,
  { server, model }: { server: string; model: string },
  signal: AbortSignal,
): Promise<void> {
  const { port } = LOCAL_SERVERS.find(({ name }) => name === server)!
  const { baseUrl } = localModelEndpoint(server, port)
  await saveServer(setup, { baseUrl, key: '', model }, signal)
}

/** A server that cannot be reached has no names and a problem, because the setup can continue. */
async function fetchServerModels(endpoint: ModelEndpoint, signal: AbortSignal): Promise<ServerModels> {
  try {
    const models = await fetchModels({ ...endpoint, timeoutMs: FETCH_MS, idleMs: FETCH_MS }, signal)
    return { names: models.map(({ name }) => name), isRefused: false }
  } catch (reason) {
    signal.throwIfAborted()
    const problem = toCrabError(reason)
    return {
      names: [],
      problem,
      isRefused: ERROR_KINDS[problem.kind].exit === ERROR_KINDS.credentials.exit,
    }
  }
}

async function change(
  { paths, lock }: ModelSetup,
  edit: (table: JsonObject) => JsonObject,
  signal: AbortSignal,
): Promise<void> {
  await using _ = await lock(`file:${paths.config}`, signal)
  await changeConfig(paths, edit)
}

const FETCH_MS = 5000
