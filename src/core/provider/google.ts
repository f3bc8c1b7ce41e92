import { GoogleLanguageModel } from '@ai-sdk/google/internal' // the package itself builds a provider from the environment
import { VERSION } from '../base/version.ts'
import { toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent } from './types.ts'

/** Streams one call of Gemini. The signatures of its thoughts and tool calls go back with them. */
export function streamGemini(
  { endpoint, request, fetch }: WireCall,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const { baseUrl: baseURL, apiKey = '' } = endpoint
  const model = new GoogleLanguageModel(request.model, {
    provider: 'google.generative-ai',
    baseURL,
    headers: { 'x-goog-api-key': apiKey, 'user-agent': `crabtalk/${VERSION}` },
    generateId: newCallId,
    fetch,
  })
  const options = {
    ...toSdkCall(request, {
      keepsReasoning: ({ meta }) => meta !== undefined && 'google' in meta,
      filesInToolResults: true,
      takesSound: true,
    }),
    ...(request.thinking && {
      reasoning: 'high' as const,
      providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
    }),
  }
  return streamModel({ model, options, place: { endpoint, model: request.model } }, signal)
}

/** For calls that come without an id: theirs have one only from Gemini 3 on. */
function newCallId(): string {
  return `call_${Math.random().toString(36).slice(2, 12).padEnd(10, '0')}`
}
