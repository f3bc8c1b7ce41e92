import { PRESETS } from './presets.ts'

/**
 * Returns an environment without the keys of model providers and of the vault, for programs that a model starts.
 *
 * Keeps the credentials of git, npm and ssh, so that the user's tools work as in their own shell. AWS
 * credentials are keys of a model provider, too; the AWS command line still finds those in ~/.aws.
 */
export function withoutProviderKeys(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const keys = new Set([...PRESETS.flatMap((preset) => preset.keys), ...FURTHER_KEYS])
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !keys.has(entry[0].toUpperCase()),
  )
  return Object.fromEntries(entries)
}

/** Keys that presets do not name: another way to log in, the other credentials for Bedrock, and the key of the vault. */
const FURTHER_KEYS = [
  'ANTHROPIC_AUTH_TOKEN',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'CRABTALK_VAULT_KEY',
  'CRABTALK_VAULT_KEY_HELPER',
]
