import { CrabError } from '../base/errors.ts'
import { isHeaderValue, NOT_A_HEADER_VALUE } from '../base/header-value.ts'
import type { JsonObject } from '../base/message.ts'
import { completeAddress } from '../base/server-address.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'
import {
  findPreset,
  findPresetAddress,
  localModelEndpoint,
  type ModelEndpoint,
  toEndpoint,
} from '../provider/endpoint.ts'
import type { Env } from '../provider/env.ts'
import { LOCAL_SERVERS, PRESETS, type Preset } from '../provider/presets.ts'
import { type ConnectChoice, OTHER_PROVIDER } from './choices.ts'

/** The settings of a provider, as the user gave them. */
export interface ConnectionInput {
  choice: ConnectChoice
  /** The address; absent: the usual one of the provider. */
  baseUrl?: string | undefined
  /** The key; absent: the one in the environment, or none. */
  apiKey?: string | undefined
  /** The program that printed the key: it is written, not the key. */
  keyHelper?: readonly string[] | undefined
  /** The AWS region, for Bedrock. */
  region?: string | undefined
}

/** A provider as it would be called and written, before anything is written. */
export interface ProviderConnection {
  title: string
  /** The name of its table in config.toml. */
  name: string
  preset: Preset | undefined
  keyPage: string | undefined
  endpoint: ModelEndpoint
  /** The `[[providers]]` table, without models. */
  table: JsonObject
  /** Whether a table that is there keeps its key and its address: the user gave neither. */
  keepsSaved: boolean
}

/**
 * Resolves what would be called and written. Throws `config` for a missing or unusable address or region, and
 * `credentials` when a key is needed and there is none.
 */
export function toConnection(input: ConnectionInput, env: Env): ProviderConnection {
  const { choice } = input
  const { saved } = choice
  const region = input.region ?? saved?.region
  const preset = saved ? findPreset(saved) : PRESETS.find(({ name }) => name === choice.id)
  const kind: ProviderKind = saved?.kind ?? preset?.kind ?? 'openai-compatible'
  const address = saved && !input.baseUrl?.trim() ? saved.baseUrl : findAddress(input, preset, env)
  const apiKey = input.apiKey?.trim() || undefined
  const name = saved?.name ?? (choice.id === OTHER_PROVIDER ? nameHost(address ?? '') : choice.id)
  const provider: ProviderConfig = {
    name,
    kind,
    apiKey,
    baseUrl: address,
    models: undefined,
    ...(region && { region }),
    timeoutMs: TIMEOUT_MS,
    maxRetries: 0,
    where: address ?? choice.title,
  }
  if (apiKey !== undefined && !isHeaderValue(apiKey)) {
    throw new CrabError('credentials', `Cannot connect ${choice.title}: the key ${NOT_A_HEADER_VALUE}`)
  }
  const endpoint = toEndpoint(provider, env)
  if (choice.key === 'required' && endpoint.apiKey === undefined) throw missingKey(choice, preset)
  const isUsual = address === undefined || (address === preset?.baseUrl && kind !== 'openai-compatible')
  return {
    title: choice.id === OTHER_PROVIDER ? endpoint.baseUrl : choice.title,
    name,
    preset,
    keyPage: choice.keyPage,
    endpoint: { ...endpoint, idleMs: TIMEOUT_MS },
    table: {
      name,
      kind,
      ...(!isUsual && { base_url: address }),
      ...(apiKey !== undefined &&
        (input.keyHelper ? { key_helper: [...input.keyHelper] } : { api_key: apiKey })),
      ...(region && { region }),
    },
    keepsSaved: apiKey === undefined && !input.baseUrl?.trim(),
  }
}

/** Returns the address to call; undefined for the usual one of a kind that derives it from its region. */
function findAddress(
  { choice, baseUrl }: ConnectionInput,
  preset: Preset | undefined,
  env: Env,
): string | undefined {
  const own = baseUrl?.trim() || undefined
  if (own !== undefined) return completeAddress(own)
  if (preset) return findPresetAddress(preset, env) ?? missingAddress(choice)
  const server = LOCAL_SERVERS.find(({ name }) => name === choice.id)
  return server ? localModelEndpoint(server.name, server.port).baseUrl : missingAddress(choice)
}

function missingAddress({ id, title, asksAddress }: ConnectChoice): undefined {
  if (!asksAddress) return undefined
  const example = id === 'azure' ? 'https://RESOURCE.openai.azure.com' : 'http://localhost:4000/v1'
  throw new CrabError('config', `Cannot connect ${title}: its address is missing`, {
    hint: `for example --base-url ${example}`,
  })
}

function missingKey({ id, title, keyPage }: ConnectChoice, preset: Preset | undefined): CrabError {
  const variable = preset?.keys[0]
  const where = keyPage === undefined ? '' : `; create one at ${keyPage}`
  return new CrabError('credentials', `Cannot connect ${title}: no key is given`, {
    hint: `set ${variable}, or pipe the key: crabtalk connect ${id} --key-stdin${where}`,
  })
}

/** Derives a provider's name from the host of its address: `gateway` from https://gateway.example.com/v1. */
function nameHost(address: string): string {
  const { hostname = 'server', port = '' } = URL.parse(address) ?? {}
  const isNumeric = /^[\d.]+$|^\[/.test(hostname) || !hostname.includes('.')
  const labels = hostname.split('.').filter((label) => !GENERIC_LABELS.has(label))
  const name = isNumeric ? [hostname, port].filter(Boolean).join('-') : (labels[0] ?? hostname)
  return name.replace(/[^\w.-]/g, '')
}

/** Labels that say nothing about the owner of a host. */
const GENERIC_LABELS: ReadonlySet<string> = new Set(['api', 'www', 'llm', 'ai', 'inference', 'gateway'])

const TIMEOUT_MS = 15_000
