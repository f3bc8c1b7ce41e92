import { CrabError } from '../base/errors.ts'
import { isHeaderValue, NOT_A_HEADER_VALUE } from '../base/header-value.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'
import { isVendors, toBaseUrl, type Wire, wireAt } from './address.ts'
import { type AwsAccess, bedrockAddress, findAwsAccess } from './aws.ts'
import type { Env } from './env.ts'
import { describeKeyHelper } from './helper-keys.ts'
import { PRESETS, type Preset } from './presets.ts'

/** The resolved settings of a model server, ready to be called. */
export interface ModelEndpoint {
  name: string
  kind: ProviderKind
  wire: Wire
  /** The base URL without a trailing slash; the wire's own paths are appended to it. */
  baseUrl: string
  apiKey: string | undefined
  /** The program that prints the key, with its arguments; `apiKey` is undefined until it has run. */
  keyHelper?: readonly string[]
  /** Set for Bedrock: the credentials that sign a request; without credentials the key is sent instead. */
  aws?: AwsAccess
  /** The source of the key, or where it is expected: a variable's name or `file:line`. */
  keyFrom: string
  /** The place where the server is declared: a variable's name, `file:line`, or its port. */
  where: string
  /** The time limit until the first byte. */
  timeoutMs: number
  /** The time limit between two reads of the answer. */
  idleMs: number
  /** Undefined: the usual number of the call's retry policy. */
  maxRetries: number | undefined
  /** Set in a daemon, whose variables are not those of the user's shell. */
  isInDaemon?: boolean
}

/**
 * Resolves the endpoint of a configured provider; absent settings come from the provider's usual variables.
 *
 * The kind determines which variables are used; for `openai-compatible` the host does, so that a key is never
 * sent to another host. Throws `config` for a missing or unusable address, and `credentials` for an AWS
 * profile without keys.
 */
export function toEndpoint(provider: ProviderConfig, env: Env): ModelEndpoint {
  const { name, where, timeoutMs, maxRetries } = provider
  const preset = findPreset(provider)
  return { ...resolveEndpoint(provider, preset, env), name, where, timeoutMs, maxRetries }
}

/** Resolves a known provider's endpoint from its variables; undefined when they are insufficient. */
export function endpointFromEnv(preset: Preset, env: Env): ModelEndpoint | undefined {
  const { name, kind } = preset
  const variable = keyVariable(preset, env)
  const from = addressVariable(preset, env)
  const address = findPresetAddress(preset, env)
  const isSecretless = variable === 'AWS_ACCESS_KEY_ID' && !env['AWS_SECRET_ACCESS_KEY']
  if (!env[variable] || isSecretless || (address === undefined && kind !== 'bedrock')) return undefined
  const source: EndpointSource = { name, kind, where: from, baseUrl: address, apiKey: undefined }
  const where = address === preset.baseUrl ? variable : from
  return {
    ...resolveEndpoint(source, preset, env),
    name,
    where,
    timeoutMs: TIMEOUT_MS,
    maxRetries: undefined,
  }
}

/**
 * Throws `credentials` when a call would certainly fail: for a key that cannot be sent, or without a key at a
 * vendor's own address.
 */
export function checkEndpoint(endpoint: ModelEndpoint): void {
  checkKey(endpoint)
  const { name, kind, where, baseUrl, apiKey, keyHelper, aws, isInDaemon } = endpoint
  if (apiKey !== undefined || keyHelper || aws?.credentials || !isVendors(kind, baseUrl)) return
  const preset = PRESETS.find((known) => known.kind === kind)
  const variables = kind === 'bedrock' ? AWS_KEYS : preset?.keys.join(' or ')
  const why = isInDaemon ? `the daemon was started without ${variables}` : 'no key is set'
  throw new CrabError('credentials', `Cannot use provider "${name}" (${where}): ${why}`, {
    hint: isInDaemon ? DAEMON_KEY_HINT : `set ${variables}, or use crabtalk connect`,
  })
}

/** The ways to give a daemon a key that it was started without. */
export const DAEMON_KEY_HINT =
  'stop it with crabtalk daemon stop: the next one takes the variables of your shell (a service: put the key into service.env, then crabup daemon restart); or store the key with crabtalk connect'

/** Throws `credentials`, naming the source, for a key that is not a valid HTTP header value. */
export function checkKey({
  name,
  apiKey,
  keyFrom,
}: Pick<ModelEndpoint, 'name' | 'apiKey' | 'keyFrom'>): void {
  if (apiKey === undefined || isHeaderValue(apiKey)) return
  throw new CrabError('credentials', `Cannot use provider "${name}": ${keyFrom} ${NOT_A_HEADER_VALUE}`)
}

/** Returns the endpoint of a server on this machine; loading a model may take minutes before its first byte. */
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
    maxRetries: undefined,
  }
}

/** Returns the address in a preset's variables, otherwise the vendor's own address, if it has one. */
export function findPresetAddress(preset: Preset, env: Env): string | undefined {
  const variable = addressVariable(preset, env)
  const own = env[variable] || undefined
  return variable === RESOURCE ? `https://${own}.openai.azure.com` : (own ?? preset.baseUrl)
}

type EndpointSource = Pick<
  ProviderConfig,
  'name' | 'kind' | 'where' | 'baseUrl' | 'apiKey' | 'keyHelper' | 'region' | 'profile'
>

/** Resolves the address, wire and credentials of a provider. */
function resolveEndpoint(
  source: EndpointSource,
  preset: Preset | undefined,
  env: Env,
): Omit<ModelEndpoint, 'name' | 'where' | 'timeoutMs' | 'maxRetries'> {
  const { kind, where, profile, keyHelper } = source
  const variable = preset && keyVariable(preset, env)
  const sendsKey =
    !keyHelper && profile === undefined && variable !== undefined && variable !== 'AWS_ACCESS_KEY_ID'
  const apiKey = (source.apiKey ?? (sendsKey ? env[variable] : undefined))?.trim() || undefined
  const hasKey = apiKey !== undefined || keyHelper !== undefined
  const aws = kind === 'bedrock' ? findAwsAccess(env, { ...source, hasKey }) : undefined
  const address =
    source.baseUrl ?? (preset && findPresetAddress(preset, env)) ?? (aws && bedrockAddress(aws.region))
  if (address === undefined) throw addressError(source)
  const wire = wireAt(kind, address)
  return {
    kind,
    wire,
    baseUrl: toBaseUrl(address, kind, where),
    apiKey,
    ...(keyHelper && { keyHelper }),
    ...(aws && { aws }),
    keyFrom: keyHelper
      ? describeKeyHelper(keyHelper)
      : source.apiKey === undefined
        ? (aws?.from ?? variable ?? where)
        : where,
    idleMs: QUIET.includes(wire) ? QUIET_MS : IDLE_MS,
  }
}

/** Returns the known provider whose variables supply the absent settings of a configured one. */
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

function addressError({ name, kind, where }: EndpointSource): CrabError {
  return new CrabError('config', `Cannot use provider "${name}" (${where}): base_url is missing`, {
    ...(kind === 'azure' && {
      hint: 'base_url = "https://RESOURCE.openai.azure.com", or set AZURE_OPENAI_ENDPOINT',
    }),
  })
}

const AWS_KEYS = 'AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'
/** The part in which Azure's addresses differ. */
const RESOURCE = 'AZURE_RESOURCE_NAME'
const TIMEOUT_MS = 30_000
const IDLE_MS = 90_000
/** Wires that send nothing while a model is thinking without showing it. */
const QUIET: readonly Wire[] = ['responses', 'gemini', 'converse']
const QUIET_MS = 300_000
const LOCAL_TIMEOUT_MS = 300_000
