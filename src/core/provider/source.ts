import { CrabError } from '../base/errors.ts'
import type { Wire } from './address.ts'
import { checkEndpoint, type ModelEndpoint } from './endpoint.ts'
import { httpFetch, readBodyText } from './http-fetch.ts'
import { fetchModels, type ReportedModel } from './list-models.ts'
import { type CallTarget, toNoStreamError } from './model-error.ts'
import { toRetries, withRetry } from './retry.ts'
import type { WireCall } from './stream.ts'
import type { ModelEvent, ModelFacts, ModelRequest } from './types.ts'

/** A model that a source declares, and its declared facts. */
export interface DeclaredModel {
  name: string
  facts: ModelFacts
}

/** A source of models: a provider, a local server, the demo. */
export interface ModelSource {
  readonly name: string
  /** The place where it is declared: `file:line`, a variable, a port. */
  readonly where: string
  /** The title of the program, such as `Ollama`, for a server that was found on this machine and not configured. */
  readonly foundProgram?: string
  readonly models: readonly DeclaredModel[]
  /** The context windows of models, declared or not, in tokens. */
  readonly contexts?: Readonly<Record<string, number>>
  /** Whether it accepts names that are not among `models`. */
  readonly isOpen: boolean
  /** The pattern of the model names of an open source. */
  readonly owns?: RegExp
  /** The model of an open source to use when none is named. */
  readonly suggests?: string
  /** A hint on how to name a model of an open source that cannot list its models. */
  readonly nameHint?: string
  /** Throws the error of a call as far as it is known in advance: no address, no such profile, no key. */
  check?(): void
  /** Calls check(), then starts loading the code that a call needs. */
  prepare?(): void
  /** Streams one call; the request's model is the source's own name of it. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Requests the list of models from the server. */
  listModels?(signal: AbortSignal): Promise<ReportedModel[]>
}

/**
 * Returns the endpoint of a call, with its key. `refused` is a key that the server has refused; the same one may be
 * returned again.
 */
export type EndpointResolver = (
  refused: string | undefined,
  signal: AbortSignal,
) => ModelEndpoint | Promise<ModelEndpoint>

/** Calls a model on an endpoint; the first call loads the code for its wire. */
export async function* callEndpoint(
  resolve: EndpointResolver,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const endpoint = await resolve(undefined, signal)
  try {
    yield* callOnce(endpoint, request, signal)
  } catch (reason) {
    const renewed = await renewKey(reason, { endpoint, resolve }, signal)
    if (!renewed) throw reason
    yield* callOnce(renewed, request, signal)
  }
}

/** Lists the models of an endpoint. */
export async function listEndpointModels(
  resolve: EndpointResolver,
  signal: AbortSignal,
): Promise<ReportedModel[]> {
  const endpoint = await resolve(undefined, signal)
  try {
    return await fetchModels(endpoint, signal)
  } catch (reason) {
    const renewed = await renewKey(reason, { endpoint, resolve }, signal)
    if (!renewed) throw reason
    return await fetchModels(renewed, signal)
  }
}

/** Returns the endpoint with another key, if its helper has one after a refusal; a refused call has not answered. */
async function renewKey(
  reason: unknown,
  { endpoint: { keyHelper, apiKey }, resolve }: { endpoint: ModelEndpoint; resolve: EndpointResolver },
  signal: AbortSignal,
): Promise<ModelEndpoint | undefined> {
  if (!keyHelper || !(reason instanceof CrabError) || reason.kind !== 'credentials') return undefined
  try {
    const renewed = await resolve(apiKey, signal)
    return renewed.apiKey === apiKey ? undefined : renewed
  } catch {
    return undefined // the refusal is reported
  }
}

async function* callOnce(
  endpoint: ModelEndpoint,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  checkEndpoint(endpoint)
  const { wire, timeoutMs, idleMs, maxRetries, where, aws } = endpoint
  const hint = `check the network and ${aws ? `the region ${aws.region}` : 'base_url'} (${where})`
  const fetch = streamsOnly(httpFetch({ firstByteMs: timeoutMs, idleMs, hint }), {
    endpoint,
    model: request.model,
  })
  const attempt = async function* () {
    const call = await loadWire(wire)
    yield* call({ endpoint, request, fetch }, signal)
  }
  const retries = toRetries(request.retryPolicy ?? 'quick', request.retries ?? maxRetries)
  yield* withRetry(attempt, retries, signal)
}

/** Loads the code for an endpoint's wire before its first call, which reports any failure to load it. */
export function prepareEndpoint(endpoint: ModelEndpoint): void {
  checkEndpoint(endpoint)
  loadWire(endpoint.wire).catch(() => undefined)
}

type WireCaller = (call: WireCall, signal: AbortSignal) => AsyncIterable<ModelEvent>

async function loadWire(wire: Wire): Promise<WireCaller> {
  switch (wire) {
    case 'messages':
      return (await import('./anthropic.ts')).streamAnthropic
    case 'chat':
      return (await import('./openai-compatible.ts')).streamOpenAICompatible
    case 'responses':
      return (await import('./responses.ts')).streamResponses
    case 'gemini':
      return (await import('./google.ts')).streamGemini
    case 'converse':
      return (await import('./bedrock.ts')).streamConverse
  }
}

/** Rejects successful answers that are not event streams, which the SDK would treat as empty streams. */
function streamsOnly(fetch: typeof globalThis.fetch, target: CallTarget): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !/html|json/.test(type)) return response
    throw toNoStreamError(type, await readBodyText(response.body), target)
  }
}
