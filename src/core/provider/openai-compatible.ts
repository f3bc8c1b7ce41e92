import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Effort } from '../base/effort.ts'
import { VERSION } from '../base/version.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent, ModelRequest } from './types.ts'

/** Streams one call of an OpenAI-compatible chat completions API. */
export function streamOpenAICompatible(
  { endpoint, request, fetch }: WireCall,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const quirks = findQuirks(endpoint)
  const provider = createOpenAICompatible({
    name: NAMESPACE,
    baseURL: endpoint.baseUrl,
    headers: { 'user-agent': `crabtalk/${VERSION}` },
    includeUsage: true,
    supportsStructuredOutputs: quirks.jsonSchema,
    transformRequestBody: quirks.transform,
    fetch,
    ...(endpoint.apiKey !== undefined && { apiKey: endpoint.apiKey }),
  })
  const effort = chooseEffort(endpoint, request)
  const options = {
    ...toSdkCall(quirks.jsonSchema ? request : withSchemaInPrompt(request), {
      keepsReasoning: ({ meta }, { inThisTurn }) =>
        quirks.echoesReasoning && inThisTurn && meta === undefined,
      filesInToolResults: false,
    }),
    ...(effort && { reasoning: effort }),
    // callers' schemas are rarely within the strict subset
    ...(request.schema && { providerOptions: { openaiCompatible: { strictJsonSchema: false } } }),
  }
  const model = provider.chatModel(request.model)
  return streamModel({ model, options, target: { endpoint, model: request.model } }, signal)
}

/** The differences between servers of this wire. */
interface Quirks {
  /** Whether a JSON Schema is accepted as response format, not only "some JSON". */
  jsonSchema: boolean
  /** Whether the thinking of this turn's earlier steps is sent back; strict servers reject the field. */
  echoesReasoning: boolean
  transform: (body: Record<string, unknown>) => Record<string, unknown>
}

function findQuirks({ kind, baseUrl }: ModelEndpoint): Quirks {
  const host = new URL(baseUrl).hostname
  return {
    jsonSchema: host !== 'api.deepseek.com',
    echoesReasoning: kind !== 'openai' && !STRICT_HOSTS.includes(host),
    transform: kind === 'openai' ? renameMaxTokens : (body) => body,
  }
}

/** Renames `max_tokens`, which OpenAI's reasoning models reject; its other models accept both names. */
function renameMaxTokens({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit }
}

/**
 * Chooses the reasoning effort. From gpt-5.4 on, OpenAI's chat completions accept tools only without
 * reasoning; both together need its Responses API.
 */
function chooseEffort(
  { kind }: ModelEndpoint,
  { model, tools, thinking, effort }: ModelRequest,
): 'none' | Effort | undefined {
  if (kind === 'openai' && tools.length > 0 && /^gpt-(5\.[4-9]|[6-9])/.test(model)) return 'none'
  return effort ?? (thinking ? 'medium' : undefined)
}

function withSchemaInPrompt(request: ModelRequest): ModelRequest {
  if (!request.schema) return request
  const rule = `Answer with nothing but one JSON value that meets this JSON Schema:\n${JSON.stringify(request.schema)}`
  return { ...request, system: request.system === '' ? rule : `${request.system}\n\n${rule}` }
}

/**
 * The key under which the SDK files provider metadata; its default would leak into the messages of the
 * request.
 */
const NAMESPACE = 'crabtalk'
const STRICT_HOSTS: readonly string[] = [
  'api.openai.com',
  'api.groq.com',
  'api.mistral.ai',
  'generativelanguage.googleapis.com',
]
