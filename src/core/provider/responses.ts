// the main entry of the package creates a provider from the environment
import { OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal'
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import { VERSION } from '../base/version.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent, ModelRequest } from './types.ts'

/**
 * Streams one call of the Responses API of OpenAI or Azure. The server stores nothing: the model's thinking
 * is returned encrypted, and sent back within the turn it belongs to.
 */
export function streamResponses(
  { endpoint, request, fetch }: WireCall,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const owner = endpoint.kind === 'azure' ? 'azure' : 'openai'
  const model = new OpenAIResponsesLanguageModel(request.model, {
    provider: `${owner}.responses`,
    url: ({ path }) => `${endpoint.baseUrl}${path}`,
    headers: () => headersFor(endpoint),
    fetch,
  })
  const options = {
    ...toSdkCall(request, {
      keepsReasoning: ({ meta }, { inThisTurn }) => inThisTurn && meta?.[owner] !== undefined,
      filesInToolResults: true,
    }),
    ...((request.effort || request.thinking) && { reasoning: request.effort ?? ('medium' as const) }),
    providerOptions: optionsFor(owner, request),
  }
  return streamModel({ model, options, target: { endpoint, model: request.model } }, signal)
}

type Owner = 'openai' | 'azure'

function headersFor({ kind, apiKey }: ModelEndpoint): Record<string, string> {
  return {
    'user-agent': `crabtalk/${VERSION}`,
    ...(apiKey !== undefined &&
      (kind === 'azure' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` })),
  }
}

function optionsFor(
  owner: Owner,
  { model, schema, thinking, effort }: ModelRequest,
): SharedV4ProviderOptions {
  return {
    [owner]: {
      store: false,
      ...(thinking && { reasoningSummary: 'auto' }),
      ...((thinking || effort) && !KNOWN_NAME.test(model) && { forceReasoning: true }), // a deployment may have any name
      ...(schema && { strictJsonSchema: false }), // callers' schemas are rarely within the strict subset
    },
  }
}

/** Names from which the SDK knows whether a model reasons. */
const KNOWN_NAME = /^(gpt-\d|o\d)/
