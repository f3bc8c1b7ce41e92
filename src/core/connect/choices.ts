import { CrabError } from '../base/errors.ts'
import { didYouMean } from '../base/nearest.ts'
import { type Config, LLM_PROVIDER, type ProviderConfig } from '../config/config.ts'
import { findLocalServers } from '../provider/discover.ts'
import { endpointFromEnv, findPreset } from '../provider/endpoint.ts'
import type { Env } from '../provider/env.ts'
import { LOCAL_SERVERS, PRESETS, type Preset } from '../provider/presets.ts'

/** A provider that a user can connect, and what must be asked for it. */
export interface ConnectChoice {
  /** The name of a preset or of a local server, or `other` for an address that the user types. */
  id: string
  title: string
  /** Whether the user must give the address. */
  asksAddress: boolean
  key: 'required' | 'optional' | 'none'
  /** The variable of the environment that holds a usable key. */
  keyVariable?: string
  /** The page on which a user creates a key. */
  keyPage?: string
  /** The models of a server that was found on this machine; empty for all other providers. */
  models: readonly string[]
  /** The provider of config.toml whose key is replaced; everything else of it stays. */
  saved?: ProviderConfig
}

/** The id of the choice for any OpenAI-compatible address. */
export const OTHER_PROVIDER = 'other'

/**
 * Lists what can be connected: the providers with a known address, the servers found on this machine within
 * 150 ms, and any OpenAI-compatible address.
 */
export async function listConnectChoices(env: Env, signal: AbortSignal): Promise<ConnectChoice[]> {
  const local = await findLocalServers(LOCAL_SERVERS, signal)
  const servers = local.map(({ name, models }) => ({
    ...toServerChoice(name),
    models: models.map((model) => model.name),
  }))
  return [...PRESETS.map((preset) => toPresetChoice(preset, env)), ...servers, ANY_ADDRESS]
}

/** Finds a choice by name: `Google` and `gemini` are the same. Throws `usage` for a name that nothing has. */
export function findConnectChoice(name: string, env: Env): ConnectChoice {
  const query = name.toLowerCase()
  const preset = PRESETS.find((known) =>
    [known.name, known.title.toLowerCase()].includes(ALIASES[query] ?? query),
  )
  if (preset) return toPresetChoice(preset, env)
  const server = LOCAL_SERVERS.find((known) => [known.name, known.title.toLowerCase()].includes(query))
  if (server) return toServerChoice(server.name)
  if ([OTHER_PROVIDER, 'openai-compatible', 'compatible'].includes(query)) return ANY_ADDRESS
  const names = [...PRESETS, ...LOCAL_SERVERS].map((known) => known.name)
  throw new CrabError('usage', `Cannot connect "${name}": no known provider has that name`, {
    hint: didYouMean(query, names) ?? `choose one of ${names.join(', ')}, or give --base-url`,
  })
}

/** Lists the providers of config.toml whose key is stored there or printed by a program, for users who replace it. */
export function listSavedProviders({ providers }: Pick<Config, 'providers'>): ConnectChoice[] {
  return providers
    .filter(({ apiKey, keyHelper, name }) => (apiKey ?? keyHelper) !== undefined && name !== LLM_PROVIDER)
    .map((saved) => {
      const { keyPage } = findPreset(saved) ?? {}
      return {
        id: `${SAVED}${saved.name}`,
        title: saved.name,
        asksAddress: false,
        key: 'required',
        ...(keyPage !== undefined && { keyPage }),
        models: [],
        saved,
      }
    })
}

/** The start of the id of a provider that is in config.toml already. */
const SAVED = 'saved:'

function toPresetChoice(preset: Preset, env: Env): ConnectChoice {
  const { name, title, kind, keys, keyPage, baseUrl } = preset
  const variable = keys.find((key) => env[key])
  const isUsable = variable !== undefined && endpointFromEnv(preset, env) !== undefined
  return {
    id: name,
    title,
    asksAddress: baseUrl === undefined && kind === 'azure',
    key: kind === 'bedrock' ? 'optional' : 'required',
    ...(isUsable && { keyVariable: variable }),
    ...(keyPage !== undefined && { keyPage }),
    models: [],
  }
}

function toServerChoice(name: string): ConnectChoice {
  const { title } = LOCAL_SERVERS.find((known) => known.name === name)!
  return { id: name, title, asksAddress: false, key: 'none', models: [] }
}

const ANY_ADDRESS: ConnectChoice = {
  id: OTHER_PROVIDER,
  title: 'OpenAI-compatible server',
  asksAddress: true,
  key: 'optional',
  models: [],
}

const ALIASES: Readonly<Record<string, string>> = { google: 'gemini', aws: 'bedrock', claude: 'anthropic' }
