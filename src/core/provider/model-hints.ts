import { isContextOverflow } from '../base/context-overflow.ts'
import type { ErrorKind } from '../base/errors.ts'
import { isOpenAI } from './address.ts'
import { type AwsAccess, findGeography } from './aws.ts'
import { DAEMON_KEY_HINT, type ModelEndpoint } from './endpoint.ts'

/** Returns a hint on how to fix a failed call; undefined when there is none. `message` is the cause. */
export function hintFor(
  kind: ErrorKind,
  { endpoint, model }: { endpoint: ModelEndpoint; model: string },
  { message, retryAfterMs }: { message: string; retryAfterMs?: number },
): string | undefined {
  const { where } = endpoint
  switch (kind) {
    case 'credentials':
      return endpoint.aws ? aboutAws(endpoint, model, message) : aboutKey(endpoint, message)
    case 'config':
      return endpoint.aws ? aboutProfile(endpoint.aws, model, message) : aboutName(endpoint)
    case 'throttled':
      return retryAfterMs === undefined ? 'try again later' : `try again in ${formatDelay(retryAfterMs)}`
    case 'unavailable':
    case 'timeout':
      if (retryAfterMs !== undefined && retryAfterMs >= 1_000)
        return `try again in ${formatDelay(retryAfterMs)}`
      return `try again later, or check the server (${where})`
    case 'failed':
      return `check that base_url is a model server's (${where})`
    case 'invalid':
      return isContextOverflow({ kind, message }) ? OVERFLOW_HINT : undefined
    default:
      return undefined
  }
}

/** Formats a delay in seconds, from five minutes on in minutes, and from two hours on in hours. */
function formatDelay(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 300) return `${seconds} s`
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`
}

function aboutKey(
  { apiKey, keyFrom, isInDaemon }: Pick<ModelEndpoint, 'apiKey' | 'keyFrom' | 'isInDaemon'>,
  message: string,
): string {
  if (apiKey === undefined && isInDaemon && VARIABLE.test(keyFrom))
    return `the daemon was started without ${keyFrom}: ${DAEMON_KEY_HINT}`
  if (apiKey === undefined) return `no key is set: set one (${keyFrom}), or use crabtalk connect`
  if (/credit|quota|balance|billing/i.test(message)) return `add credit, or use another key (${keyFrom})`
  return `check the key (${keyFrom}), or replace it: crabtalk connect`
}

const VARIABLE = /^[A-Z][A-Z0-9_]*$/

function aboutAws(
  { apiKey, aws, keyFrom, isInDaemon }: ModelEndpoint,
  model: string,
  message: string,
): string {
  if (CLOCK.test(message)) return 'check the clock of this machine: a signature holds for five minutes'
  const action = /not authorized to perform:? ([\w:*]+)/i.exec(message)?.[1]
  if (action !== undefined) {
    return `let the user or role of these credentials do ${action} (${keyFrom})${pinned(model, aws!)}`
  }
  if (/access to the model|marketplace/i.test(message)) {
    return `ask for access to the model in the Bedrock console (${aws!.region})${pinned(model, aws!)}`
  }
  if (/expired/i.test(message)) return `log in to AWS again (${keyFrom})`
  const key = apiKey ?? aws!.credentials?.accessKeyId
  return aboutKey({ apiKey: key, keyFrom, ...(isInDaemon && { isInDaemon }) }, message)
}

function aboutProfile(aws: AwsAccess, model: string, message: string): string {
  if (/on-demand throughput/i.test(message)) {
    return 'call it through an inference profile: put global., us., eu. or apac. before its name'
  }
  return `check the model's name, and whether ${aws.region} has it (AWS_REGION, or region in config.toml)${pinned(model, aws)}`
}

/** Suggests a profile for one part of the world: an account may forbid global profiles but allow those. */
function pinned(model: string, { region }: AwsAccess): string {
  const name = /(?:^|\/)global\.(.+)$/.exec(model)?.[1]
  const geography = findGeography(region)
  return name && geography ? `, or keep to one part of the world: ${geography}.${name}` : ''
}

function aboutName({ kind, wire, baseUrl, where }: ModelEndpoint): string {
  if (kind === 'azure')
    return `a model's name at Azure is that of its deployment; check it and base_url (${where})`
  if (kind === 'openai' && wire === 'responses' && !isOpenAI(baseUrl)) {
    return `check the model's name, and whether the server knows /responses: without that in base_url it is asked for chat completions (${where})`
  }
  return `check the model's name and base_url (${where})`
}

const OVERFLOW_HINT = 'compact the conversation, send less, or use a model with a larger context'
const CLOCK = /signature (expired|not yet current)|request ?time ?too ?skewed|clock/i
