import { CrabError } from '../base/errors.ts'
import { isHeaderValue, NOT_A_HEADER_VALUE } from '../base/header-value.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'
import { isVendors, toBaseUrl, type Wire, wireAt } from './address.ts'
import { type AwsAccess, bedrockAddress, findAwsAccess } from './aws.ts'
import type { Env } from './env.ts'
import { PRESETS, type Preset } from './presets.ts'

/** A model server, ready to be called. */
export interface ModelEndpoint {
  name: string
  kind: ProviderKind
  wire: Wire
  /** Without a trailing slash; the wire's own paths are appended to it. */
  baseUrl: string
  apiKey: string | undefined
  /** Of Bedrock: what a request is signed with; without credentials the key is shown instead. */
  aws?: AwsAccess
  /** Where the key comes from, or would come from: a variable's name or `file:line`. */
  keyFrom: string
  /** Where the server is declared: a variable's name, `file:line`, or its port. */
  where: string
  /** To the first byte. */
  timeoutMs: number
  /** Between two reads of the answer. */
  idleMs: number
  maxRetries: number
}

/**
 * The endpoint of a configured provider; what it leaves out comes from the provider's usual variables.
 *
 * The kind says whose variables are meant; for `openai-compatible` the host does, so that no key reaches a stranger.
 * Fails with `config` without an address or with an unusable one, with `credentials` on an AWS profile that has no keys.
 */
export function toEndpoint(provider: ProviderConfig, env: Env): ModelEndpoint {
  const { name, where, timeoutMs, maxRetries } = provider
  const preset = findPreset(provider)
  return { ...resolveEndpoint(provider, preset, env), name, where, timeoutMs, maxRetries }
}

/** The endpoint a known provider's variables describe; undefined when they do not say enough. */
export function endpointFromEnv(preset: Preset, env: Env): ModelEndpoint | undefined {
  const { name, kind } = preset
  const variable = keyVariable(preset, env)
  const from = addressVariable(preset, env)
  const address = findPresetAddress(preset, env)
  const isSecretless = variable === 'AWS_ACCESS_KEY_ID' && !env['AWS_SECRET_ACCESS_KEY']
  if (!env[variable] || isSecretless || (address === undefined && kind !== 'bedrock')) return undefined
  const place: EndpointSource = { name, kind, where: from, baseUrl: address, apiKey: undefined }
  const where = address === preset.baseUrl ? variable : from
  return {
    ...resolveEndpoint(place, preset, env),
    name,
    where,
    timeoutMs: TIMEOUT_MS,
    maxRetries: MAX_RETRIES,
  }
}

/** Fails with `credentials` where a call surely would: with a key that cannot be sent, or at a vendor's own address without one. */
export function checkEndpoint(endpoint: ModelEndpoint): void {
  checkKey(endpoint)
  const { name, kind, where, baseUrl, apiKey, aws } = endpoint
  if (apiKey !== undefined || aws?.credentials || !isVendors(kind, baseUrl)) return
  const preset = PRESETS.find((known) => known.kind === kind)
  const variables = kind === 'bedrock' ? AWS_KEYS : preset?.keys.join(' or ')
  throw new CrabError('credentials', `Cannot use provider "${name}" (${where}): there is no key`, {
    hint: `set ${variables}, or write api_key = "KEY" in config.toml`,
  })
}

/** Fails with `credentials` for a key that no HTTP request can carry, and names where it comes from. */
export function checkKey({
  name,
  apiKey,
  keyFrom,
}: Pick<ModelEndpoint, 'name' | 'apiKey' | 'keyFrom'>): void {
  if (apiKey === undefined || isHeaderValue(apiKey)) return
  throw new CrabError('credentials', `Cannot use provider "${name}": ${keyFrom} ${NOT_A_HEADER_VALUE}`)
}

/** The endpoint of a server on this machine; it may take minutes to load a model before its first byte. */
export function localModelEndpoint(name: string, port: number): ModelEndpoint {
  return {
    name,
    kind: 'openai-compatible',
    wire: 'chat',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: undefined,
    keyFrom: 'config.toml',
    where: `port ${port}`,
    timeoutMs: LOCAL_TIMEOUT_MS,
    idleMs: LOCAL_TIMEOUT_MS,
    maxRetries: MAX_RETRIES,
  }
}

/** The address a preset's variables name, else the vendor's own, if there is one for all. */
export function findPresetAddress(preset: Preset, env: Env): string | undefined {
  const variable = addressVariable(preset, env)
  const own = env[variable] || undefined
  return variable === RESOURCE ? `https://${own}.openai.azure.com` : (own ?? preset.baseUrl)
}

type EndpointSource = Pick<
  ProviderConfig,
  'name' | 'kind' | 'where' | 'baseUrl' | 'apiKey' | 'region' | 'profile'
>

/** Where the server is, how to speak with it, and what to show it. */
function resolveEndpoint(
  place: EndpointSource,
  preset: Preset | undefined,
  env: Env,
): Omit<ModelEndpoint, 'name' | 'where' | 'timeoutMs' | 'maxRetries'> {
  const { kind, where, profile } = place
  const variable = preset && keyVariable(preset, env)
  const isShown = profile === undefined && variable !== undefined && variable !== 'AWS_ACCESS_KEY_ID'
  const apiKey = (place.apiKey ?? (isShown ? env[variable] : undefined))?.trim() || undefined
  const aws = kind === 'bedrock' ? findAwsAccess(env, { ...place, hasKey: apiKey !== undefined }) : undefined
  const address =
    place.baseUrl ?? (preset && findPresetAddress(preset, env)) ?? (aws && bedrockAddress(aws.region))
  if (address === undefined) throw withoutAddress(place)
  const wire = wireAt(kind, address)
  return {
    kind,
    wire,
    baseUrl: toBaseUrl(address, kind, where),
    apiKey,
    ...(aws && { aws }),
    keyFrom: place.apiKey === undefined ? (aws?.from ?? variable ?? where) : where,
    idleMs: QUIET.includes(wire) ? QUIET_MS : IDLE_MS,
  }
}

/** The known provider whose variables a configured one takes what it leaves out from. */
export function findPreset({ kind, baseUrl }: ProviderConfig): Preset | undefined {
  if (kind !== 'openai-compatible') return PRESETS.find((preset) => preset.kind === kind)
  const host = URL.parse(baseUrl ?? '')?.host
  return PRESETS.find((preset) => preset.baseUrl !== undefined && new URL(preset.baseUrl).host === host)
}

function addressVariable(preset: Preset, env: Env): string {
  const { name, kind, addresses = [`${name.toUpperCase()}_BASE_URL`] } = preset
  const found = addresses.find((variable) => env[variable])
  return found ?? (kind === 'azure' && env[RESOURCE] ? RESOURCE : addresses[0]!)
}

function keyVariable({ keys }: Preset, env: Env): string {
  return keys.find((name) => env[name]) ?? keys[0]
}

function withoutAddress({ name, kind, where }: EndpointSource): CrabError {
  return new CrabError('config', `Cannot use provider "${name}" (${where}): base_url is missing`, {
    ...(kind === 'azure' && {
      hint: 'base_url = "https://RESOURCE.openai.azure.com", or set AZURE_OPENAI_ENDPOINT',
    }),
  })
}

const AWS_KEYS = 'AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'
/** Azure's addresses differ in this. */
const RESOURCE = 'AZURE_RESOURCE_NAME'
const TIMEOUT_MS = 30_000
const IDLE_MS = 90_000
/** Wires on which nothing comes while a model thinks unseen. */
const QUIET: readonly Wire[] = ['responses', 'gemini', 'converse']
const QUIET_MS = 300_000
const LOCAL_TIMEOUT_MS = 300_000
const MAX_RETRIES = 2
