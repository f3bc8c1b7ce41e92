import type { Kind } from '../base/errors.ts'
import { isOpenAI } from './address.ts'
import type { Endpoint } from './endpoint.ts'

/** What a person can do about a failed call; undefined when nothing is known. `said` is what the server said. */
export function hintFor(
  kind: Kind,
  endpoint: Endpoint,
  { said, retryAfterMs }: { said: string; retryAfterMs?: number },
): string | undefined {
  const { where } = endpoint
  switch (kind) {
    case 'credentials':
      return aboutKey(endpoint, said)
    case 'config':
      return aboutName(endpoint, said)
    case 'throttled':
      return retryAfterMs === undefined
        ? 'try again later'
        : `try again in ${Math.ceil(retryAfterMs / 1000)} s`
    case 'unavailable':
    case 'timeout':
      return `try again later, or look at the server (${where})`
    case 'failed':
      return `check that base_url is a model server's (${where})`
    case 'invalid':
      return TOO_LONG.test(said) ? 'send less, or use a model with a larger context' : undefined
    default:
      return undefined
  }
}

function aboutKey({ apiKey, aws, keyFrom }: Endpoint, said: string): string {
  if (apiKey === undefined && !aws?.credentials) return `there is no key: set one (${keyFrom})`
  if (/credit|quota|balance|billing/i.test(said)) return `add credit, or use another key (${keyFrom})`
  if (aws && /access to the model|marketplace/i.test(said)) {
    return `ask for access to the model in the Bedrock console (${aws.region})`
  }
  return aws && /expired/i.test(said) ? `log in to AWS again (${keyFrom})` : `check the key (${keyFrom})`
}

function aboutName({ kind, wire, baseUrl, aws, where }: Endpoint, said: string): string {
  if (aws && /on-demand throughput/i.test(said)) {
    return 'call it through an inference profile: put global., us., eu. or apac. before its name'
  }
  if (aws)
    return `check the model's name, and whether ${aws.region} has it (AWS_REGION, or region in config.toml)`
  if (kind === 'azure')
    return `a model's name at Azure is that of its deployment; check it and base_url (${where})`
  if (kind === 'openai' && wire === 'responses' && !isOpenAI(baseUrl)) {
    return `check the model's name, and whether the server knows /responses: without that in base_url it is asked for chat completions (${where})`
  }
  return `check the model's name and base_url (${where})`
}

const TOO_LONG =
  /context (length|size|window|limit)|too long|too many (input )?tokens|too large|exceeds the maximum number of tokens/i
