import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import type { Env } from './env.ts'

/** The credentials that sign requests to AWS. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  /** Set for temporary credentials. */
  sessionToken?: string
}

/** An AWS account, and the region in which its models are called. */
export interface AwsAccess {
  region: string
  credentials?: AwsCredentials
  /** The source of the credentials: the name of a variable or of a profile. */
  from?: string
}

/**
 * Finds the region and credentials for Bedrock: those of a named profile, otherwise those in the environment,
 * otherwise those of AWS_PROFILE or the `default` profile in ~/.aws. With a Bedrock API key (`hasKey`) only
 * the region is needed.
 *
 * The region defaults to us-east-1. Throws `config` for a named profile that does not exist and for an
 * invalid region, and `credentials` for a profile with another kind of login than keys.
 */
export function findAwsAccess(
  env: Env,
  { region, profile: named, hasKey }: { region?: string; profile?: string; hasKey: boolean },
): AwsAccess {
  const fromEnv = hasKey || named !== undefined ? undefined : credentialsIn(env)
  const keys = fromEnv && { credentials: fromEnv, from: 'AWS_ACCESS_KEY_ID' }
  const access = { region: awsRegion(env, { region, profile: named }) }
  if (!REGION.test(access.region)) {
    throw new CrabError('config', `Cannot use AWS region "${access.region}": a region looks like eu-west-1`)
  }
  if (hasKey || keys) return { ...access, ...keys }
  const chosen = named ?? (env['AWS_PROFILE'] || undefined)
  const name = chosen ?? 'default'
  const profile = readProfile(name, env)
  if (profile === undefined && chosen !== undefined) {
    throw new CrabError('config', `Cannot use AWS profile "${name}": ~/.aws does not have that profile`)
  }
  const credentials = profile && readCredentials(profile)
  const other = profile && OTHER_LOGINS.find((key) => profile[key] !== undefined)
  if (!credentials && other !== undefined) throw foreignLogin(name, other)
  return { ...access, ...(credentials && { credentials, from: `profile ${name} of ~/.aws` }) }
}

/** Returns the region like findAwsAccess(), but accepts a missing profile. */
export function awsRegion(
  env: Env,
  { region, profile }: { region?: string | undefined; profile?: string | undefined },
): string {
  const own = region ?? (env['AWS_REGION'] || env['AWS_DEFAULT_REGION'])
  return own || readProfile(profile ?? (env['AWS_PROFILE'] || 'default'), env)?.['region'] || USUAL_REGION
}

/**
 * Returns the prefix of inference profiles that stay within a region's part of the world; undefined for
 * regions without one.
 */
export function findGeography(region: string): string | undefined {
  return GEOGRAPHIES.find(([prefix]) => region.startsWith(prefix))?.[1]
}

/** Returns Bedrock's own address in a region. */
export function bedrockAddress(region: string): string {
  const [, domain] = DOMAINS.find(([prefix]) => region.startsWith(prefix)) ?? []
  return `https://bedrock-runtime.${region}.${domain ?? 'amazonaws.com'}`
}

function credentialsIn(env: Env): AwsCredentials | undefined {
  return toCredentials(env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN'])
}

function readCredentials(profile: Readonly<Record<string, string>>): AwsCredentials | undefined {
  return toCredentials(
    profile['aws_access_key_id'],
    profile['aws_secret_access_key'],
    profile['aws_session_token'],
  )
}

function toCredentials(id = '', secret = '', token = ''): AwsCredentials | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [id.trim(), secret.trim(), token.trim()]
  if (accessKeyId === '' || secretAccessKey === '') return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken !== '' && { sessionToken }) }
}

/** The error for a profile whose tokens only the AWS command line can fetch. */
function foreignLogin(name: string, key: string): CrabError {
  return new CrabError('credentials', `Cannot use AWS profile "${name}": it has no keys, but ${key}`, {
    hint: `eval "$(aws configure export-credentials --profile ${name} --format env)" puts its keys into the environment`,
  })
}

const OTHER_LOGINS = [
  'sso_session',
  'sso_start_url',
  'role_arn',
  'credential_process',
  'login_session',
  'web_identity_token_file',
]
/** The domains of the separate AWS partitions. */
const DOMAINS = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
] as const
const GEOGRAPHIES = [
  ['us-gov-', 'us-gov'],
  ['us-', 'us'],
  ['ca-', 'us'],
  ['eu-', 'eu'],
  ['ap-northeast-1', 'jp'],
  ['ap-northeast-3', 'jp'],
  ['ap-southeast-2', 'au'],
  ['ap-southeast-4', 'au'],
  ['ap-', 'apac'],
] as const
/** The characters allowed in a region, which becomes part of a host name. */
const REGION = /^[a-z\d-]+$/
const USUAL_REGION = 'us-east-1'

/** The settings of one profile. */
type AwsProfile = Readonly<Record<string, string>>

/**
 * Reads a profile from AWS's two files; the credentials file takes precedence over the config file. Returns
 * undefined when neither has the profile.
 *
 * The files are in ~/.aws, or where AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE point. Ignores unreadable
 * files and nested settings.
 */
function readProfile(name: string, env: Env): AwsProfile | undefined {
  const folder = join(env['HOME'] || env['USERPROFILE'] || '/nonexistent', '.aws')
  const files = [
    parse(env['AWS_CONFIG_FILE'] || join(folder, 'config')).get(
      name === 'default' ? name : `profile ${name}`,
    ),
    parse(env['AWS_SHARED_CREDENTIALS_FILE'] || join(folder, 'credentials')).get(name),
  ]
  const found = files.filter((profile) => profile !== undefined)
  return found.length === 0 ? undefined : Object.assign({}, ...found)
}

function parse(path: string): Map<string, Record<string, string>> {
  const sections = new Map<string, Record<string, string>>()
  let current: Record<string, string> = {}
  for (const line of readOptional(path).split(/\r?\n/)) {
    const section = /^\[\s*(.+?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, ' ')
    if (section !== undefined) {
      current = sections.get(section) ?? {}
      sections.set(section, current)
      continue
    }
    const [, key, value] = /^([^\s#;=]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key !== undefined) current[key] = (value ?? '').replace(/\s[#;].*$/, '').trimEnd()
  }
  return sections
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // usually the file does not exist; a missing setting is reported where it is needed
  }
}
