import type { Config, ProviderConfig } from '../config/config.ts'
import { findPreset } from './endpoint.ts'
import type { Env } from './env.ts'
import { PRESETS, type Preset } from './presets.ts'

/**
 * The environment variables on which it depends which models there are, and by which account: of every known provider
 * where config.toml declares none, else of what its providers leave out.
 */
export function modelVariables({ providers }: Pick<Config, 'providers'>, env: Env): string[] {
  const names =
    providers.length > 0
      ? providers.flatMap((provider) => listPresetVariables(findPreset(provider), provider, env))
      : PRESETS.flatMap((preset) => listPresetVariables(preset, {}, env))
  return [...new Set(names)]
}

type ProviderFields = Pick<Partial<ProviderConfig>, 'apiKey' | 'baseUrl' | 'models' | 'region' | 'profile'>

function listPresetVariables(preset: Preset | undefined, given: ProviderFields, env: Env): string[] {
  if (preset === undefined) return []
  const { name, kind, keys, addresses = [`${name.toUpperCase()}_BASE_URL`], modelKeys = [] } = preset
  return [
    ...(given.apiKey === undefined && given.profile === undefined ? keys : []),
    ...(given.baseUrl === undefined ? addresses : []),
    ...(given.baseUrl === undefined && kind === 'azure' ? ['AZURE_RESOURCE_NAME'] : []),
    ...(given.models === undefined ? modelKeys : []),
    ...(kind === 'bedrock' ? listAwsVariables(preset, given, env) : []),
  ]
}

/** A region or a profile alone is set for other programs: it counts where Bedrock is used. */
function listAwsVariables({ keys }: Preset, { apiKey, region, profile }: ProviderFields, env: Env): string[] {
  const isDeclared = apiKey !== undefined || region !== undefined || profile !== undefined
  if (!isDeclared && !keys.some((key) => env[key])) return []
  return [
    ...(apiKey === undefined && profile === undefined ? SECRETS : []),
    ...(region === undefined ? REGIONS : []),
  ]
}

const SECRETS = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE']
const REGIONS = ['AWS_REGION', 'AWS_DEFAULT_REGION']
