import type { Config, ProviderConfig } from '../config/config.ts'
import { findPreset } from './endpoint.ts'
import type { Env } from './env.ts'
import { PRESETS, type Preset } from './presets.ts'

/**
 * Returns the environment variables that determine which models are available, and with which account: those
 * of every known provider when config.toml declares none, otherwise those that supply its providers' absent
 * settings.
 */
export function modelVariables({ providers }: Pick<Config, 'providers'>, env: Env): string[] {
  const names =
    providers.length > 0
      ? providers.flatMap((provider) => listPresetVariables(findPreset(provider), provider, env))
      : PRESETS.flatMap((preset) => listPresetVariables(preset, {}, env))
  return [...new Set(names)]
}

type ProviderFields = Pick<
  Partial<ProviderConfig>,
  'apiKey' | 'keyHelper' | 'baseUrl' | 'models' | 'region' | 'profile'
>

function listPresetVariables(preset: Preset | undefined, fields: ProviderFields, env: Env): string[] {
  if (preset === undefined) return []
  const { name, kind, keys, addresses = [`${name.toUpperCase()}_BASE_URL`], modelKeys = [] } = preset
  return [
    ...(!hasOwnKey(fields) && fields.profile === undefined ? keys : []),
    ...(fields.baseUrl === undefined ? addresses : []),
    ...(fields.baseUrl === undefined && kind === 'azure' ? ['AZURE_RESOURCE_NAME'] : []),
    ...(fields.models === undefined ? modelKeys : []),
    ...(kind === 'bedrock' ? listAwsVariables(preset, fields, env) : []),
  ]
}

function hasOwnKey({ apiKey, keyHelper }: ProviderFields): boolean {
  return apiKey !== undefined || keyHelper !== undefined
}

/** Lists the AWS variables if Bedrock is in use: a region or profile alone is set for other programs. */
function listAwsVariables({ keys }: Preset, fields: ProviderFields, env: Env): string[] {
  const { region, profile } = fields
  const isDeclared = hasOwnKey(fields) || region !== undefined || profile !== undefined
  if (!isDeclared && !keys.some((key) => env[key])) return []
  return [
    ...(!hasOwnKey(fields) && profile === undefined ? SECRETS : []),
    ...(region === undefined ? REGIONS : []),
  ]
}

const SECRETS = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE']
const REGIONS = ['AWS_REGION', 'AWS_DEFAULT_REGION']
