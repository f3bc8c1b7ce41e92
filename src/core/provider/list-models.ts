import { toCrabError } from '../base/errors.ts'
import { isObject, parseObject } from '../base/json.ts'
import type { JsonObject } from '../base/message.ts'
import type { Wire } from './address.ts'
import { checkKey, type ModelEndpoint } from './endpoint.ts'
import { httpFetch, readBodyText } from './http-fetch.ts'
import { toResponseError } from './model-error.ts'

/** A model in the list of a provider. */
export interface ReportedModel {
  name: string
  /** The context window in tokens, if the provider reports it. */
  context?: number
}

/**
 * Returns the models an endpoint lists, in its order, without those that cannot chat.
 *
 * Throws like a model call. An answer without a list yields no models.
 */
export async function fetchModels(endpoint: ModelEndpoint, signal: AbortSignal): Promise<ReportedModel[]> {
  const body = await get(endpoint, `/models${WHOLE_LIST[endpoint.wire] ?? ''}`, signal)
  const models = endpoint.wire === 'gemini' ? geminiModels(body) : modelsIn(body)
  return models.filter(({ name }) => !NO_CHAT.test(name))
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
function modelsIn(body: string): ReportedModel[] {
  return listIn(body, 'data').flatMap((entry) => {
    const { id } = entry
    return typeof id === 'string' ? { name: id, ...readContext(entry) } : []
  })
}

/** Parses `{models: [{name: "models/…", supportedGenerationMethods}]}`. */
function geminiModels(body: string): ReportedModel[] {
  return listIn(body, 'models').flatMap((entry) => {
    const { name, supportedGenerationMethods: methods } = entry
    const canChat = !Array.isArray(methods) || methods.includes('generateContent')
    return typeof name === 'string' && canChat
      ? { name: name.replace(/^models\//, ''), ...readContext(entry) }
      : []
  })
}

/** Reads the context window of a model, which every provider names differently. */
function readContext(entry: JsonObject): Pick<ReportedModel, 'context'> {
  const places = [entry, ...NESTED.map((key) => entry[key]).filter(isObject)]
  const context = places
    .flatMap((place) => CONTEXT_KEYS.map((key) => place[key]))
    .find((value) => Number.isSafeInteger(value) && Number(value) > 0)
  return context === undefined ? {} : { context: Number(context) }
}

/**
 * The names of the context window: LM Studio; OpenRouter, Together and Fireworks; vLLM and SGLang; Groq; Mistral;
 * Anthropic; Google; llama.cpp, in `meta`.
 */
const CONTEXT_KEYS = [
  'loaded_context_length',
  'context_length',
  'max_model_len',
  'context_window',
  'max_context_length',
  'max_input_tokens',
  'inputTokenLimit',
  'n_ctx',
]
const NESTED = ['meta', 'top_provider', 'metadata', 'limits']

/** Returns an empty list when another kind of server answers. */
function listIn(body: string, key: string): JsonObject[] {
  const list = parseObject(body)?.[key]
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** The largest page size of paginated lists, far above the number of models. */
const WHOLE_LIST: Partial<Record<Wire, string>> = { gemini: '?pageSize=1000', messages: '?limit=1000' }
const NO_CHAT = /embed|rerank|whisper|tts|transcribe|moderation|dall-e|image|audio|realtime/i
