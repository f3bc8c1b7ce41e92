// the main entry of the package reads the environment when it loads
import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal'
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Reasoning } from '../base/message.ts'
import { VERSION } from '../base/version.ts'
import { type SdkCall, toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent, ModelRequest } from './types.ts'

/** Streams one call of the Anthropic Messages API. */
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
    ...((request.effort || request.thinking) && { reasoning: request.effort ?? ('high' as const) }),
    ...thinkingOptions(request),
  }
  return streamModel({ model, options, target: { endpoint, model: request.model } }, signal)
}

/**
 * Sets cache breakpoints at the parts that the next request will begin with: the tools, the system prompt,
 * and the last two messages that are not the model's (the older one hits the cache of the previous request).
 * Anthropic allows four breakpoints.
 */
function markCached(call: SdkCall): SdkCall {
  const { prompt, tools = [] } = call
  const inputs = prompt.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at] : []))
  const marked = new Set(inputs.slice(-2))
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
 * Tells the server to drop thinking blocks whose prefix changed. Newer models bind each thinking block to
 * everything before it and reject a request in which that has changed, but it may change between turns here
 * (instructions, tools, a merged message).
 */
function thinkingOptions({ model, messages, thinking }: ModelRequest): {
  providerOptions?: SharedV4ProviderOptions
} {
  const sendsSigned = messages.some(({ reasoning = [] }) => reasoning.some(isSigned))
  if (!sendsSigned || !BOUND_THINKING.test(model)) return {}
  const blockBinding = { prefixMismatchBehavior: 'drop_block' }
  const adaptive = { type: 'adaptive', ...(thinking && { display: 'summarized' }), blockBinding }
  return { providerOptions: { anthropic: { thinking: adaptive } } }
}

/**
 * Whether a block carries Anthropic's signature; thinking without one, such as another provider's, is
 * rejected.
 */
function isSigned({ meta }: Reasoning): boolean {
  return meta !== undefined && 'anthropic' in meta
}

const CACHED: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
/**
 * Requests complete arguments. Set on each tool, because the option of the whole call makes the SDK build a
 * schema first, which takes 3 ms.
 */
const TOOL: SharedV4ProviderOptions = { anthropic: { eagerInputStreaming: false } }
const LAST_TOOL: SharedV4ProviderOptions = { anthropic: { ...TOOL['anthropic'], ...CACHED['anthropic'] } }
const BOUND_THINKING = /claude-(fable-5-[1-9]|mythos-5-[1-9]|(opus|sonnet|haiku)-5-5)/
