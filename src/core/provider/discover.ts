import { CrabError, toCrabError } from '../base/errors.ts'
import { didYouMean } from '../base/nearest.ts'
import type { Config, ProviderConfig } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'
import { isVendors, wireAt } from './address.ts'
import { awsRegion } from './aws.ts'
import { CONNECT_HINT, demoSource } from './demo.ts'
import { fitDescriptions } from './description-limit.ts'
import {
  checkEndpoint,
  endpointFromEnv,
  findPreset,
  findPresetAddress,
  localModelEndpoint,
  type ModelEndpoint,
  toEndpoint,
} from './endpoint.ts'
import type { Env } from './env.ts'
import type { HelperKeys } from './helper-keys.ts'
import { fetchModels, type ReportedModel } from './list-models.ts'
import { LOCAL_SERVERS, PRESETS, type Preset } from './presets.ts'
import { ModelRegistry } from './registry.ts'
import {
  callEndpoint,
  type EndpointResolver,
  listEndpointModels,
  type ModelSource,
  prepareEndpoint,
} from './source.ts'

/** The inputs of model discovery. */
export interface ModelLookup {
  config: Pick<Config, 'providers' | 'defaultModel' | 'defaultModelWhere'>
  env: Env
  /** The model the user requested; it becomes the default. */
  model?: string
  /** Replaces the usual servers. */
  localServers?: readonly LocalPort[]
  /** Whether this process is a daemon, whose variables are not those of the user's shell. */
  isInDaemon?: boolean
  /** Runs key helpers; without it, calls of their providers fail. */
  helperKeys?: Pick<HelperKeys, 'find'> | undefined
}

/**
 * Finds the available models, in this order (ADR 0042): the providers declared in config.toml; otherwise the
 * providers whose keys are in the environment; otherwise a server on this machine; otherwise the demo, which
 * is always available by name.
 *
 * Only queries local servers, and a declared provider that names no model. If that one cannot list its models,
 * or no source has the default of config.toml, there is no default: defaultModel() throws the reason, and
 * other models can be called by name. Throws `config`.
 */
export async function openModels(lookup: ModelLookup, signal: AbortSignal): Promise<ModelRegistry> {
  const sources = await findSources(lookup, signal)
  const demo = demoSource(unusedKeys(lookup.env))
  const first = sources[0] ?? demo
  const registry = new ModelRegistry({ hint: first === demo ? CONNECT_HINT : undefined })
  for (const source of sources) registry.add(source)
  if (!sources.some(isNamedDemo)) registry.add(demo)
  if (lookup.model !== undefined) registry.commit(lookup.model)
  else if (lookup.config.defaultModel !== undefined)
    commitConfigured(registry, lookup.config.defaultModel, lookup.config.defaultModelWhere)
  else await chooseDefault(registry, first, signal)
  return registry
}

/** Makes the model of config.toml the default, or explains to turns without another model why it is not. */
function commitConfigured(registry: ModelRegistry, model: string, where = 'config.toml'): void {
  try {
    registry.commit(model)
  } catch (cause) {
    const names = registry.list().map(({ name }) => name)
    const isDemoOnly = names.length === 1 && names[0] === 'demo'
    const hint = didYouMean(model, names) ?? (isDemoOnly ? connectHint(model) : chooseHint(names))
    const message = `Cannot use the model "${model}" (${where}): no connected provider has it`
    registry.setDefaultError(new CrabError('config', message, { hint, cause }))
  }
}

/** Names the provider that the model's name points to, else the ways to connect one. */
function connectHint(model: string): string {
  const owner = PRESETS.find(({ owns }) => owns.test(model))
  return `${owner ? `connect it with crabtalk connect ${owner.name}` : CONNECT_HINT}, or use --model demo`
}

function chooseHint(names: readonly string[]): string {
  const listed = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), '…'] : names
  return `choose another with --model, or write it to config.toml: ${listed.join(', ')}`
}

function isNamedDemo({ name, models }: ModelSource): boolean {
  return name === 'demo' || models.some((model) => model.name === 'demo')
}

async function findSources(lookup: ModelLookup, signal: AbortSignal): Promise<ModelSource[]> {
  const { config, env, localServers = LOCAL_SERVERS } = lookup
  if (config.providers.length > 0)
    return config.providers.map((provider) => configuredSource(provider, lookup))
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
  if (known !== undefined) return registry.commit(known)
  try {
    const [first] = (await source.listModels?.(signal)) ?? []
    if (first !== undefined) return registry.commit(first.name)
    throw noModelsError(source)
  } catch (reason) {
    registry.setDefaultError(toCrabError(reason))
  }
}

function noModelsError({ name, where, listModels: canSay, nameHint }: ModelSource): CrabError {
  const why = canSay ? 'reports no models' : 'cannot list its models'
  return new CrabError('config', `Cannot choose a model: "${name}" (${where}) ${why}`, {
    hint: `${nameHint ?? 'name one with --model'}, or write model = "…" in config.toml`,
  })
}

/** Creates the source lazily: an incomplete provider is an error for its callers, not for other providers. */
function configuredSource(
  provider: ProviderConfig,
  { env, isInDaemon = false, helperKeys }: Pick<ModelLookup, 'env' | 'isInDaemon' | 'helperKeys'>,
): ModelSource {
  const { name, kind, where, models } = provider
  const resolve = () => ({ ...toEndpoint(provider, env), isInDaemon })
  const resolveKeyed: EndpointResolver = (refused, signal) =>
    withHelperKey(resolve(), helperKeys, refused, signal)
  const preset = PRESETS.find((known) => known.kind === kind && kind !== 'openai-compatible')
  return {
    name,
    where,
    models: (models ?? []).map(({ name: model, ...facts }) => ({ name: model, facts })),
    ...(provider.contexts && { contexts: provider.contexts }),
    isOpen: models === undefined,
    ...ownedNames(provider),
    ...(preset && models === undefined && toSuggestion(suggestModel(preset, env, provider))),
    ...(kind in NAMES && { nameHint: NAMES[kind]! }),
    check: () => checkEndpoint(resolve()),
    prepare() {
      const endpoint = resolve()
      prepareEndpoint(endpoint)
      if (endpoint.keyHelper) helperKeys?.find(endpoint.keyHelper, undefined, NEVER).catch(() => undefined) // the call reports it
    },
    complete: fitDescriptions((request, signal) => callEndpoint(resolveKeyed, request, signal)),
    ...(canList(kind) && { listModels: (signal) => listEndpointModels(resolveKeyed, signal) }),
  }
}

/** Adds the key that the endpoint's helper prints, if it has one. */
function withHelperKey(
  endpoint: ModelEndpoint,
  helperKeys: ModelLookup['helperKeys'],
  refused: string | undefined,
  signal: AbortSignal,
): ModelEndpoint | Promise<ModelEndpoint> {
  const { name, where, keyHelper } = endpoint
  if (!keyHelper) return endpoint
  const what = `Cannot use provider "${name}" (${where})`
  if (!helperKeys) throw new CrabError('credentials', `${what}: its key_helper is not run here`)
  return helperKeys.find(keyHelper, refused, signal).then(
    (apiKey) => ({ ...endpoint, apiKey }),
    (reason: unknown) => {
      const { kind, message, hint } = toCrabError(reason)
      if (kind === 'cancelled' || message.startsWith('Cannot use provider')) throw reason
      throw new CrabError(kind, `${what}: ${message}`, { cause: reason, ...(hint !== undefined && { hint }) })
    },
  )
}

/** Returns the pattern of a configured provider's model names, if it is a known one. */
function ownedNames(provider: ProviderConfig): Pick<ModelSource, 'owns'> {
  const preset = findPreset(provider)
  return preset ? { owns: preset.owns } : {}
}

function keyedSource(preset: Preset, env: Env): ModelSource | undefined {
  const endpoint = endpointFromEnv(preset, env)
  if (endpoint === undefined) return undefined
  return openSource(endpoint, { owns: preset.owns, ...toSuggestion(suggestModel(preset, env, {})) })
}

/**
 * Returns the user's own model, otherwise the preset's default if it is certainly available: at the vendor's
 * own address, or on a wire that only the vendor's models use.
 */
export function suggestModel(
  preset: Preset,
  env: Env,
  place: { baseUrl?: string | undefined; region?: string | undefined; profile?: string | undefined },
): string | undefined {
  const { kind, defaultIn, modelKeys = [] } = preset
  const own = modelKeys.map((name) => env[name]).find(Boolean)
  if (own !== undefined) return own
  const model = defaultIn
    ? defaultIn(awsRegion(env, { region: place.region, profile: place.profile }))
    : preset.defaultModel
  const address = place.baseUrl ?? findPresetAddress(preset, env)
  const isOnlyTheirs =
    address !== undefined && ['messages', 'gemini', 'converse'].includes(wireAt(kind, address))
  return isOnlyTheirs || isAtHome(preset, address) ? model : undefined
}

function toSuggestion(model: string | undefined): Pick<ModelSource, 'suggests'> {
  return model === undefined ? {} : { suggests: model }
}

/** Whether an address is the vendor's own, in any spelling and region. */
function isAtHome({ kind, baseUrl = '' }: Preset, address: string | undefined): boolean {
  if (address === undefined || isVendors(kind, address)) return true
  const host = URL.parse(address)?.host
  return host !== undefined && host === URL.parse(baseUrl)?.host
}

/**
 * Whether a provider can list its models. Azure lists what could be deployed instead of what is; Bedrock
 * lists on another host, for which a key rarely has permission.
 */
function canList(kind: ModelEndpoint['kind']): boolean {
  return kind !== 'azure' && kind !== 'bedrock'
}

/** The usual port of a model server on this machine. */
type LocalPort = Pick<(typeof LOCAL_SERVERS)[number], 'name' | 'port'>

/** A model server on this machine, and its models. */
export interface LocalServer {
  name: string
  endpoint: ModelEndpoint
  models: readonly ReportedModel[]
}

/** Returns the servers in the list that respond within 150 ms and have a model, in the order of the list. */
export async function findLocalServers(
  servers: readonly LocalPort[],
  signal: AbortSignal,
): Promise<LocalServer[]> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(LOCAL_WAIT_MS)])
  const found = await Promise.all(
    servers.map(async ({ name, port }) => {
      const endpoint = localModelEndpoint(name, port)
      const models = await fetchModels(endpoint, deadline).catch(() => []) // usually no server is running there
      return { name, endpoint, models }
    }),
  )
  signal.throwIfAborted()
  return found.filter(({ models }) => models.length > 0)
}

/** Returns the first server of this machine as a source, if any. */
async function localSources(servers: readonly LocalPort[], signal: AbortSignal): Promise<ModelSource[]> {
  const [server] = await findLocalServers(servers, signal)
  if (server === undefined) return []
  const models = server.models.map(({ name, context }) => ({
    name,
    facts: { inputUsd: 0, outputUsd: 0, ...(context !== undefined && { context }) },
  }))
  const foundProgram = LOCAL_SERVERS.find(({ name }) => name === server.name)?.title ?? server.name
  return [{ ...openSource(server.endpoint, {}), models, foundProgram }]
}

function openSource(endpoint: ModelEndpoint, more: Pick<ModelSource, 'owns' | 'suggests'>): ModelSource {
  return {
    name: endpoint.name,
    where: endpoint.where,
    models: [],
    isOpen: true,
    ...more,
    ...(endpoint.kind in NAMES && { nameHint: NAMES[endpoint.kind]! }),
    check: () => checkEndpoint(endpoint),
    prepare: () => prepareEndpoint(endpoint),
    complete: fitDescriptions((request, signal) => callEndpoint(() => endpoint, request, signal)),
    ...(canList(endpoint.kind) && { listModels: (signal) => fetchModels(endpoint, signal) }),
  }
}

/** Names a variable that is set but insufficient by itself, and what is missing. */
function unusedKeys(env: Env): string | undefined {
  const azure = ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'].find((name) => env[name])
  if (azure) return `${azure} is set, but neither AZURE_OPENAI_ENDPOINT nor AZURE_RESOURCE_NAME`
  return env['AWS_ACCESS_KEY_ID'] && 'AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY'
}

/** Hints on naming a model of providers that cannot list theirs. */
const NAMES: Partial<Record<ProviderKind, string>> = {
  azure: 'name your deployment with --model or AZURE_OPENAI_DEPLOYMENT',
  bedrock: 'name a model or an inference profile of your region with --model',
}
const NEVER = new AbortController().signal
const LOCAL_WAIT_MS = 150
const MAX_NAMED = 12
