import { CrabError } from '../base/errors.ts'
import { normaliseBaseUrl, type ProviderConfig } from '../config/config.ts'
import { PRESETS, type Preset } from './presets.ts'

/** The environment of whoever opens the models; nothing below reads another. */
export type Env = Readonly<Record<string, string | undefined>>

/** A model server, ready to be called. */
export interface Endpoint {
  name: string
  kind: Preset['kind']
  /** Without a trailing slash; the wire's own paths are appended to it. */
  baseUrl: string
  apiKey: string | undefined
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
 * Fails with `config` for kinds this build cannot talk to and for an unusable base URL.
 */
export function toEndpoint(provider: ProviderConfig, env: Env): Endpoint {
  const { name, kind, where, timeoutMs, maxRetries } = provider
  if (kind !== 'openai' && kind !== 'anthropic' && kind !== 'openai-compatible') throw unsupported(provider)
  const preset = presetOf(provider)
  const address = provider.baseUrl ?? (preset && baseUrlOf(preset, env))
  if (address === undefined) {
    throw new CrabError('config', `Cannot use provider "${name}" (${where}): base_url is missing`)
  }
  const variable = preset && keyVariable(preset, env)
  return {
    name,
    kind,
    baseUrl: toBaseUrl(address, kind, where),
    apiKey: (provider.apiKey ?? (variable && env[variable]))?.trim(),
    keyFrom: provider.apiKey === undefined && variable !== undefined ? variable : where,
    where,
    timeoutMs,
    idleMs: IDLE_MS,
    maxRetries,
  }
}

/** The endpoint a known provider's variables describe; undefined when none is set. */
export function endpointFromEnv(preset: Preset, env: Env): Endpoint | undefined {
  const variable = keyVariable(preset, env)
  const key = env[variable]
  if (!key) return undefined
  const address = baseUrlOf(preset, env)
  return {
    name: preset.name,
    kind: preset.kind,
    baseUrl: toBaseUrl(address, preset.kind, baseUrlVariable(preset)),
    apiKey: key.trim(),
    keyFrom: variable,
    where: address === preset.baseUrl ? variable : baseUrlVariable(preset),
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    maxRetries: MAX_RETRIES,
  }
}

/** The endpoint of a server on this machine; it may take minutes to load a model before its first byte. */
export function localEndpoint(name: string, port: number): Endpoint {
  return {
    name,
    kind: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: undefined,
    keyFrom: 'config.toml',
    where: `port ${port}`,
    timeoutMs: LOCAL_TIMEOUT_MS,
    idleMs: LOCAL_TIMEOUT_MS,
    maxRetries: MAX_RETRIES,
  }
}

/** The address as the SDK wants it (RFC 0027): no slash or endpoint at its end, and the version people leave out. */
export function toBaseUrl(address: string, kind: Preset['kind'], where: string): string {
  const url = URL.parse(normaliseBaseUrl(address.trim()))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CrabError('config', `Cannot use base_url (${where}): it is no http address`, {
      hint: 'http://localhost:4000/v1, say',
    })
  }
  const hasVersion = kind === 'anthropic' ? url.pathname.endsWith('/v1') : url.pathname !== '/'
  return `${url.href.replace(/\/$/, '')}${hasVersion ? '' : '/v1'}`
}

/** The preset's address, or the one its variable names. */
export function baseUrlOf(preset: Preset, env: Env): string {
  return env[baseUrlVariable(preset)] || preset.baseUrl
}

function presetOf({ kind, baseUrl }: ProviderConfig): Preset | undefined {
  if (kind !== 'openai-compatible') return PRESETS.find(({ name }) => name === kind)
  const host = URL.parse(baseUrl ?? '')?.host
  return PRESETS.find((preset) => new URL(preset.baseUrl).host === host)
}

function baseUrlVariable({ name }: Preset): string {
  return `${name.toUpperCase()}_BASE_URL`
}

function keyVariable({ keys }: Preset, env: Env): string {
  return keys.find((name) => env[name]) ?? keys[0]
}

function unsupported({ name, kind, where }: ProviderConfig): CrabError {
  return new CrabError(
    'config',
    `Cannot use provider "${name}" (${where}): this build does not speak ${kind} yet`,
    {
      hint: `kind = "openai-compatible" with base_url = "${COMPATIBLE_URLS[kind] ?? ''}" reaches the same models`,
    },
  )
}

const TIMEOUT_MS = 30_000
const IDLE_MS = 90_000
const LOCAL_TIMEOUT_MS = 300_000
const MAX_RETRIES = 2

/** The OpenAI-compatible addresses of those whose own wire comes later. */
const COMPATIBLE_URLS: Partial<Record<ProviderConfig['kind'], string>> = {
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
  azure: 'https://<resource>.openai.azure.com/openai/v1',
  bedrock: 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
}
