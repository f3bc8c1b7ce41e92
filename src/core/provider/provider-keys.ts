import { PRESETS } from './presets.ts'

/**
 * An environment without the keys of model providers (cli.md, "First run"), for programs that a model starts.
 *
 * What git, npm and ssh log in with stays: the person's tools are to work as in their own shell. Credentials of AWS
 * are keys of a model provider too; its command line still finds those in ~/.aws.
 */
export function withoutProviderKeys(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const keys = new Set([...PRESETS.flatMap((preset) => preset.keys), ...FURTHER_KEYS])
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !keys.has(entry[0].toUpperCase()),
  )
  return Object.fromEntries(kept)
}

/** What presets do not name: another way to log in, and the rest of what opens Bedrock. */
const FURTHER_KEYS = [
  'ANTHROPIC_AUTH_TOKEN',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
]
