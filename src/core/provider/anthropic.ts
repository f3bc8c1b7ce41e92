import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal' // the package itself reads the environment when it loads
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Reasoning } from '../base/message.ts'
import { VERSION } from '../base/version.ts'
import { type SdkCall, toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent, ModelRequest } from './types.ts'

/** Streams one call of an Anthropic-shaped message. */
export function streamAnthropic(
  { endpoint, request, fetch }: WireCall,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const { baseUrl: baseURL, apiKey = '' } = endpoint
  const model = new AnthropicLanguageModel(request.model, {
    provider: 'anthropic.messages',
    baseURL,
    headers: {
      'anthropic-version': '2023-06-01',
      'x-api-key': apiKey,
      'user-agent': `crabtalk/${VERSION}`,
    },
    fetch,
  })
  const call = toSdkCall(request, { keepsReasoning: isSigned, filesInToolResults: true })
  const options = {
    ...markCached(call),
    ...(request.thinking && { reasoning: 'high' as const }),
    ...thinkingOptions(request),
  }
  return streamModel({ model, options, place: { endpoint, model: request.model } }, signal)
}

/**
 * Marks what the next request will begin with: the tools, the system prompt, and the last two messages that are not
 * the model's (the older one finds what the request before has written). Anthropic allows four marks.
 */
function markCached(call: SdkCall): SdkCall {
  const { prompt, tools = [] } = call
  const asked = prompt.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at] : []))
  const marked = new Set(asked.slice(-2))
  return {
    ...call,
    prompt: prompt.map((message, at) =>
      message.role === 'system' || marked.has(at) ? { ...message, providerOptions: CACHED } : message,
    ),
    ...(tools.length > 0 && {
      tools: tools.map((tool, at) => ({
        ...tool,
        providerOptions: at === tools.length - 1 ? LAST_TOOL : TOOL,
      })),
    }),
  }
}

/**
 * Newer models bind each thinking block to all that stood before it and refuse a request in which that has changed.
 * Here it may change between turns (instructions, tools, a merged message), so the server is told to drop the block.
 */
function thinkingOptions({ model, messages, thinking }: ModelRequest): {
  providerOptions?: SharedV4ProviderOptions
} {
  const returned = messages.some(({ reasoning = [] }) => reasoning.some(isSigned))
  if (!returned || !BOUND_THINKING.test(model)) return {}
  const blockBinding = { prefixMismatchBehavior: 'drop_block' }
  const adaptive = { type: 'adaptive', ...(thinking && { display: 'summarized' }), blockBinding }
  return { providerOptions: { anthropic: { thinking: adaptive } } }
}

/** Thinking without a signature, another provider's say, is refused. */
function isSigned({ meta }: Reasoning): boolean {
  return meta !== undefined && 'anthropic' in meta
}

const CACHED: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
/** Arguments are wanted whole. Said tool by tool: an option of the call makes the SDK build a schema first, 3 ms. */
const TOOL: SharedV4ProviderOptions = { anthropic: { eagerInputStreaming: false } }
const LAST_TOOL: SharedV4ProviderOptions = { anthropic: { ...TOOL['anthropic'], ...CACHED['anthropic'] } }
const BOUND_THINKING = /claude-(fable-5-[1-9]|mythos-5-[1-9]|(opus|sonnet|haiku)-5-5)/
