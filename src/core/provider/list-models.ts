import { isObject, parseObject } from '../base/json.ts'
import type { Endpoint } from './endpoint.ts'
import { httpFetch, readText } from './http-fetch.ts'
import { toRefusalError } from './model-error.ts'

/**
 * The names of the models an endpoint says it has, in its own order; those that cannot converse are left out.
 *
 * Fails like a model call. An answer without a list gives no names.
 */
export async function listModels(endpoint: Endpoint, signal: AbortSignal): Promise<string[]> {
  const { baseUrl, kind, apiKey, timeoutMs, idleMs, where } = endpoint
  const fetch = httpFetch({ firstByteMs: timeoutMs, idleMs, hint: `check base_url (${where})` })
  const response = await fetch(`${baseUrl}/models`, { headers: authHeaders(kind, apiKey), signal })
  const body = await readText(response.body)
  if (!response.ok) {
    const refusal = { status: response.status, headers: Object.fromEntries(response.headers), body }
    throw toRefusalError(refusal, { endpoint, model: 'models' })
  }
  return namesIn(body).filter((name) => !NO_CHAT.test(name))
}

function authHeaders(kind: Endpoint['kind'], apiKey: string | undefined): Record<string, string> {
  if (kind === 'anthropic') return { 'anthropic-version': '2023-06-01', 'x-api-key': apiKey ?? '' }
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
}

/** `{data: [{id}]}`, as both shapes have it. */
function namesIn(body: string): string[] {
  const list = parseObject(body)?.['data'] // nothing where another kind of server listens
  return Array.isArray(list)
    ? list.flatMap((model: unknown) =>
        isObject(model) && typeof model['id'] === 'string' ? model['id'] : [],
      )
    : []
}

const NO_CHAT = /embed|rerank|whisper|tts|transcribe|moderation|dall-e|image|audio|realtime/i
