// the main entry of the package creates a provider from the environment
import { GoogleLanguageModel } from '@ai-sdk/google/internal'
import { VERSION } from '../base/version.ts'
import { toSdkCall } from './prompt.ts'
import { streamModel, type WireCall } from './stream.ts'
import type { ModelEvent } from './types.ts'

/** Streams one call of Gemini. Sends the signatures of earlier thoughts and tool calls back with them. */
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
    ...((request.effort || request.thinking) && { reasoning: request.effort ?? ('high' as const) }),
    ...(request.thinking && {
      providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
    }),
  }
  return streamModel({ model, options, target: { endpoint, model: request.model } }, signal)
}

/** Creates an id for calls without one, which Gemini sends before version 3. */
function newCallId(): string {
  return `call_${Math.random().toString(36).slice(2, 12).padEnd(10, '0')}`
}
