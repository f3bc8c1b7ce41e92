import type { Config } from '../config/config.ts'
import { endpointFromEnv, type ModelEndpoint, toEndpoint } from './endpoint.ts'
import type { Env } from './env.ts'
import { PRESETS } from './presets.ts'

/**
 * Returns where the key of a provider comes from: `the vault`, a variable, `file:line`, or a helper's name. Undefined
 * when it has none, or nothing can be said about it.
 */
export function findKeySource(
  name: string,
  { providers }: Pick<Config, 'providers'>,
  env: Env,
): string | undefined {
  const endpoint = findEndpoint(name, providers, env)
  if (!endpoint) return undefined
  const { apiKey, keyHelper, aws, keyFrom } = endpoint
  return (apiKey ?? keyHelper ?? aws?.credentials) === undefined ? undefined : keyFrom
}

function findEndpoint(name: string, providers: Config['providers'], env: Env): ModelEndpoint | undefined {
  const provider = providers.find((one) => one.name === name)
  const preset = providers.length === 0 ? PRESETS.find((one) => one.name === name) : undefined
  try {
    if (provider) return toEndpoint(provider, env)
    return preset && endpointFromEnv(preset, env)
  } catch {
    return undefined // a call of the provider says why
  }
}
