import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { VERSION } from '../base/version.ts'
import { signatureHeaders } from './aws-signature.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { type StreamFault, wholeFrames } from './event-frames.ts'
import { type CallTarget, toFaultError } from './model-error.ts'
import { type SdkCall, toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent, ModelRequest } from './types.ts'

/** Streams one call of Bedrock's Converse API, with a Bedrock API key or signed with AWS credentials. */
export function streamConverse(
  { endpoint, request, fetch }: WireCall,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const faults: StreamFault[] = []
  const provider = createAmazonBedrock({
    // without a key the SDK would sign by itself, and load the built-in HTTP client for that
    apiKey: endpoint.apiKey ?? UNUSED,
    baseURL: endpoint.baseUrl,
    fetch: splitFrames(signRequests(fetch, endpoint), (fault) => faults.push(fault)),
  })
  const call = toSdkCall(withoutBlanks(request), {
    keepsReasoning: ({ meta }, { inThisTurn }) => inThisTurn && meta !== undefined && NAMESPACE in meta,
    filesInToolResults: TAKES_FILES_IN_RESULTS.test(request.model),
    argumentsAs: 'object',
  })
  const options = {
    ...(CACHES.test(request.model) ? markCached(call) : call),
    headers: { 'user-agent': `crabtalk/${VERSION}` },
    ...((request.effort || request.thinking) && { reasoning: request.effort ?? ('high' as const) }),
    ...(request.thinking && {
      ...(CLAUDE.test(request.model) && {
        providerOptions: { [NAMESPACE]: { reasoningConfig: { display: 'summarized' } } },
      }),
    }),
  }
  const model = provider.languageModel(request.model)
  const place = { endpoint, model: request.model }
  return withFaults(streamModel({ model, options, target: place }, signal), { faults, target: place }, signal)
}

/** Throws the fault that ended a stream, instead of the error that the answer is incomplete. */
async function* withFaults(
  events: AsyncIterable<ModelEvent>,
  { faults, target }: { faults: readonly StreamFault[]; target: CallTarget },
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  try {
    yield* events
  } catch (reason) {
    const [fault] = faults
    throw fault === undefined || signal.aborted ? reason : toFaultError(fault, target)
  }
}

/** Replaces blank tool results, which Bedrock rejects; many commands print nothing. */
function withoutBlanks(request: ModelRequest): ModelRequest {
  const messages = request.messages.map((message) =>
    message.role === 'tool' && message.content.trim() === '' ? { ...message, content: '(nothing)' } : message,
  )
  return { ...request, messages }
}

/**
 * Sets cache points at the ends of the parts that the next request will begin with: the system prompt, which
 * includes the tools, and two messages.
 */
function markCached(call: SdkCall): SdkCall {
  const inputs = call.prompt.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at] : []))
  const marked = new Set(inputs.slice(-2))
  return {
    ...call,
    prompt: call.prompt.map((message, at) =>
      message.role === 'system' || marked.has(at) ? { ...message, providerOptions: CACHE_POINT } : message,
    ),
  }
}

type Fetch = typeof globalThis.fetch

/** Signs each request when it is sent, because a signature is valid for five minutes. */
function signRequests(fetch: Fetch, { aws, apiKey }: ModelEndpoint): Fetch {
  if (apiKey !== undefined) return fetch
  return (input, init = {}) => {
    const { authorization: _, Authorization: __, ...headers } = init.headers as Record<string, string>
    if (!aws?.credentials) return fetch(input, { ...init, headers })
    const access = { region: aws.region, credentials: aws.credentials }
    const url = new URL(String(input))
    const request = { method: 'POST', url, body: String(init.body), service: 'bedrock' }
    return fetch(input, {
      ...init,
      headers: { ...headers, ...signatureHeaders(request, access, new Date()) },
    })
  }
}

function splitFrames(fetch: Fetch, onFault: (fault: StreamFault) => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { ok, status, statusText, headers, body } = response
    if (!ok || body === null) return response
    return { ok, status, statusText, headers, body: wholeFrames(body, onFault) } as Response
  }
}

const UNUSED = 'unused'
const NAMESPACE = 'amazonBedrock'
const CACHE_POINT: SharedV4ProviderOptions = { [NAMESPACE]: { cachePoint: { type: 'default' } } }
const CLAUDE = /anthropic\.|claude/
const TAKES_FILES_IN_RESULTS = /anthropic\.|claude|amazon\.nova/
/** The models with a cache; the first Claude models have none, and reject a cache point. */
const CACHES = /^(?!.*claude-(v\d|instant|3-(?!7|5-haiku))).*(anthropic\.|claude|amazon\.nova)/
