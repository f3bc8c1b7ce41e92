import type { Wire } from './address.ts'
import { checkEndpoint, type ModelEndpoint } from './endpoint.ts'
import { httpFetch, readBodyText } from './http-fetch.ts'
import { type CallTarget, toNoStreamError } from './model-error.ts'
import { withRetry } from './retry.ts'
import type { WireCall } from './stream.ts'
import type { ModelEvent, ModelFacts, ModelRequest } from './types.ts'

/** A model a source declares, and what is declared about it. */
export interface DeclaredModel {
  name: string
  facts: ModelFacts
}

/** Somewhere models can be called: a provider, a local server, the demo. */
export interface ModelSource {
  readonly name: string
  /** Where it is declared: `file:line`, a variable, a port. */
  readonly where: string
  readonly models: readonly DeclaredModel[]
  /** Takes names that are not among `models`. */
  readonly isOpen: boolean
  /** Of an open source: what its models' names look like. */
  readonly owns?: RegExp
  /** Of an open source: what to use when nobody names a model. */
  readonly suggests?: string
  /** Of an open source that lists nothing: how a person names a model of it. */
  readonly nameHint?: string
  /** Throws what a call would, as far as that is known without one: no address, no such profile, no key. */
  check?(): void
  /** check(), then begins to load what a call needs. */
  prepare?(): void
  /** The request's model is the name this source knows it by. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Asks the server what it has. */
  listModels?(signal: AbortSignal): Promise<string[]>
}

/** Calls a model on an endpoint; the code for its wire is loaded by the first call. */
export async function* callEndpoint(
  resolve: () => ModelEndpoint,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const endpoint = resolve()
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
  yield* withRetry(attempt, request.retries ?? maxRetries, signal)
}

/** Loads the code for an endpoint's wire ahead of its first call, which reports what goes wrong with that. */
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

/** Refuses good answers that the SDK would take for a stream in which nothing happens. */
function streamsOnly(fetch: typeof globalThis.fetch, place: CallTarget): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !/html|json/.test(type)) return response
    throw toNoStreamError(type, await readBodyText(response.body), place)
  }
}
