import type { Finish, TokenCounts, WireWriter } from './model-wire.ts'

/**
 * Encodes chunks like the answer to `POST /v1beta/models/NAME:streamGenerateContent?alt=sse`. Gemini has no
 * redacted thinking.
 */
export function geminiWriter(model: string): WireWriter {
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ modelVersion: model, responseId: 'r1', ...fields })}\r\n\r\n`
  const say = (part: object, more: object = {}) =>
    chunk({ candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...more }] })
  return {
    begin: () => '',
    part(part) {
      if (typeof part === 'string') return say({ text: part })
      if ('redacted' in part) return ''
      if ('thinking' in part) {
        const { thinking: text, signature } = part
        return say({ text, thought: true, ...(signature && { thoughtSignature: signature }) })
      }
      const { call: id, name, args, signature } = part
      const functionCall = { id, name, ...(args !== '' && { args: JSON.parse(args) }) }
      return say({ functionCall, ...(signature && { thoughtSignature: signature }) })
    },
    finish: (reason, usage) =>
      chunk({
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: REASONS[reason] },
        ],
        ...(usage && { usageMetadata: geminiUsage(usage) }),
      }),
    error: ({ message, code }) => chunk({ error: { code, message, status: 'UNAVAILABLE' } }),
  }
}

/** Google counts thoughts separately from the output. */
function geminiUsage({ input, output, cacheRead = 0, reasoning = 0 }: TokenCounts): object {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    cachedContentTokenCount: cacheRead,
    totalTokenCount: input + output,
  }
}

const REASONS: Record<Finish, string> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
}
