import { CrabError, toCrabError } from '../base/errors.ts'
import type { Config, ProviderConfig } from '../config/config.ts'
import { CONNECT, demoSource } from './demo.ts'
import { baseUrlOf, type Endpoint, type Env, endpointFromEnv, localEndpoint, toEndpoint } from './endpoint.ts'
import { listModels } from './list-models.ts'
import { LOCAL_SERVERS, PRESETS, type Preset, UNSUPPORTED_KEYS } from './presets.ts'
import { ModelRegistry } from './registry.ts'
import { callEndpoint, type ModelSource, prepareEndpoint } from './source.ts'

/** Where models are looked for. */
export interface ModelSetting {
  config: Pick<Config, 'providers' | 'defaultModel'>
  env: Env
  /** What a person asked for; it becomes the default. */
  model?: string
  /** Instead of the usual ones. */
  localServers?: typeof LOCAL_SERVERS
}

/**
 * The models of this place, found in the order of cli.md's "First run": what config.toml declares; else the providers
 * whose keys are in the environment; else a server on this machine; else the demo, which is there by name in any case.
 *
 * Over the network only a local server is asked, and a declared one that names no model: when it cannot say what it
 * has, there is no default, and asking for it fails with the reason. Fails with `config`.
 */
export async function openModels(setting: ModelSetting, signal: AbortSignal): Promise<ModelRegistry> {
  const sources = await findSources(setting, signal)
  const demo = demoSource(unusedKeys(setting.env))
  const first = sources[0] ?? demo
  const registry = new ModelRegistry({ hint: first === demo ? CONNECT : undefined })
  for (const source of sources) registry.add(source)
  if (!sources.some(isNamedDemo)) registry.add(demo)
  const wanted = setting.model ?? setting.config.defaultModel
  if (wanted !== undefined) registry.use(wanted)
  else await chooseDefault(registry, first, signal)
  return registry
}

function isNamedDemo({ name, models }: ModelSource): boolean {
  return name === 'demo' || models.some((model) => model.name === 'demo')
}

async function findSources(setting: ModelSetting, signal: AbortSignal): Promise<ModelSource[]> {
  const { config, env, localServers = LOCAL_SERVERS } = setting
  if (config.providers.length > 0) return config.providers.map((provider) => configuredSource(provider, env))
  const keyed = PRESETS.flatMap((preset) => keyedSource(preset, env) ?? [])
  if (keyed.length > 0) return keyed
  return await localSources(localServers, signal)
}

async function chooseDefault(
  registry: ModelRegistry,
  source: ModelSource,
  signal: AbortSignal,
): Promise<void> {
  const known = source.models[0]?.name ?? source.suggests
  if (known !== undefined) return registry.use(known)
  try {
    const [first] = (await source.listModels?.(signal)) ?? []
    if (first !== undefined) return registry.use(first)
    throw new CrabError(
      'config',
      `Cannot choose a model: "${source.name}" (${source.where}) says it has none`,
      {
        hint: 'name one with --model, or write model = "…" in config.toml',
      },
    )
  } catch (reason) {
    registry.lackDefault(toCrabError(reason))
  }
}

/** A provider this build cannot use is an error of whoever uses it, not of the others. */
function configuredSource(provider: ProviderConfig, env: Env): ModelSource {
  const { name, kind, where, models, baseUrl } = provider
  const preset = PRESETS.find((known) => known.name === kind)
  return {
    name,
    where,
    models: (models ?? []).map(({ name: model, ...facts }) => ({ name: model, facts })),
    isOpen: models === undefined,
    ...(preset && models === undefined && suggestionAt(preset, baseUrl ?? baseUrlOf(preset, env))),
    prepare: () => prepareEndpoint(toEndpoint(provider, env)),
    complete: (request, signal) => callEndpoint(() => toEndpoint(provider, env), request, signal),
    listModels: (signal) => listModels(toEndpoint(provider, env), signal),
  }
}

function keyedSource(preset: Preset, env: Env): ModelSource | undefined {
  const endpoint = endpointFromEnv(preset, env)
  if (endpoint === undefined) return undefined
  return openSource(endpoint, { owns: preset.owns, ...suggestionAt(preset, endpoint.baseUrl) })
}

/** A preset's default model, where it surely is: at the vendor's own address, and on Anthropic's wire everywhere. */
function suggestionAt({ kind, baseUrl, defaultModel }: Preset, address: string): { suggests?: string } {
  return kind === 'anthropic' || address === baseUrl ? { suggests: defaultModel } : {}
}

/** The first server that answers in time and has a model, if any. */
async function localSources(servers: typeof LOCAL_SERVERS, signal: AbortSignal): Promise<ModelSource[]> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(LOCAL_WAIT_MS)])
  const found = await Promise.all(
    servers.map(async ({ name, port }) => {
      const endpoint = localEndpoint(name, port)
      const names = await listModels(endpoint, soon).catch(() => []) // none there is the usual case
      return { endpoint, names }
    }),
  )
  signal.throwIfAborted()
  const server = found.find(({ names }) => names.length > 0)
  if (server === undefined) return []
  const facts = { inputUsd: 0, outputUsd: 0 }
  return [{ ...openSource(server.endpoint, {}), models: server.names.map((name) => ({ name, facts })) }]
}

function openSource(endpoint: Endpoint, more: Pick<ModelSource, 'owns' | 'suggests'>): ModelSource {
  return {
    name: endpoint.name,
    where: endpoint.where,
    models: [],
    isOpen: true,
    ...more,
    prepare: () => prepareEndpoint(endpoint),
    complete: (request, signal) => callEndpoint(() => endpoint, request, signal),
    listModels: (signal) => listModels(endpoint, signal),
  }
}

function unusedKeys(env: Env): string | undefined {
  const found = UNSUPPORTED_KEYS.find((name) => env[name])
  return found && `${found} is set, but this build does not speak that provider's wire yet`
}

const LOCAL_WAIT_MS = 150
