import { toCrabError } from '../base/errors.ts'
import { isObject, parseObject } from '../base/json.ts'
import type { JsonObject } from '../base/message.ts'
import type { Wire } from './address.ts'
import { checkKey, type ModelEndpoint } from './endpoint.ts'
import { httpFetch, readBodyText } from './http-fetch.ts'
import { toResponseError } from './model-error.ts'

/**
 * Returns the names of the models an endpoint lists, in its order, without those that cannot chat.
 *
 * Throws like a model call. An answer without a list yields no names.
 */
export async function fetchModels(endpoint: ModelEndpoint, signal: AbortSignal): Promise<string[]> {
  const body = await get(endpoint, `/models${WHOLE_LIST[endpoint.wire] ?? ''}`, signal)
  const names = endpoint.wire === 'gemini' ? geminiNames(body) : namesIn(body)
  return names.filter((name) => !NO_CHAT.test(name))
}

/**
 * Sends a request that only succeeds with a valid key. A server without that path accepts every key here.
 * Throws like a model call.
 */
export async function fetchKeyCheck(
  endpoint: ModelEndpoint,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await get(endpoint, path, signal).catch((reason: unknown) => {
    if (toCrabError(reason).kind !== 'config') throw reason
  })
}

async function get(endpoint: ModelEndpoint, path: string, signal: AbortSignal): Promise<string> {
  checkKey(endpoint)
  const { baseUrl, timeoutMs, idleMs, where } = endpoint
  const fetch = httpFetch({ firstByteMs: timeoutMs, idleMs, hint: `check base_url (${where})` })
  const response = await fetch(`${baseUrl}${path}`, { headers: authHeaders(endpoint), signal })
  const body = await readBodyText(response.body)
  if (response.ok) return body
  const refusal = { status: response.status, headers: Object.fromEntries(response.headers), body }
  throw toResponseError(refusal, { endpoint, model: 'models' })
}

function authHeaders({ wire, apiKey }: ModelEndpoint): Record<string, string> {
  if (wire === 'messages') return { 'anthropic-version': '2023-06-01', 'x-api-key': apiKey ?? '' }
  if (wire === 'gemini') return { 'x-goog-api-key': apiKey ?? '' }
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
}

/** Parses `{data: [{id}]}`, the format of OpenAI and Anthropic. */
function namesIn(body: string): string[] {
  return listIn(body, 'data').flatMap(({ id }) => (typeof id === 'string' ? id : []))
}

/** Parses `{models: [{name: "models/…", supportedGenerationMethods}]}`. */
function geminiNames(body: string): string[] {
  return listIn(body, 'models').flatMap(({ name, supportedGenerationMethods: methods }) => {
    const canChat = !Array.isArray(methods) || methods.includes('generateContent')
    return typeof name === 'string' && canChat ? name.replace(/^models\//, '') : []
  })
}

/** Returns an empty list when another kind of server answers. */
function listIn(body: string, key: string): JsonObject[] {
  const list = parseObject(body)?.[key]
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** The largest page size of paginated lists, far above the number of models. */
const WHOLE_LIST: Partial<Record<Wire, string>> = { gemini: '?pageSize=1000', messages: '?limit=1000' }
const NO_CHAT = /embed|rerank|whisper|tts|transcribe|moderation|dall-e|image|audio|realtime/i
