import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { Finish, TokenCounts, WireWriter } from './model-wire.ts'

/** Encodes a frame with a server failure: an exception with its name, or an error with its code. */
export function converseFault(
  type: 'exception' | 'error',
  name: string,
  message: string,
): Uint8Array<ArrayBuffer> {
  if (type === 'exception') {
    const named = { ':exception-type': name, ':content-type': 'application/json' }
    return frame({ ...named, ':message-type': type }, JSON.stringify({ message }))
  }
  return frame({ ':error-code': name, ':error-message': message, ':message-type': type }, '')
}

/** Encodes frames of an AWS event stream, like the answer to `POST /model/NAME/converse-stream`. */
export function converseWriter(): WireWriter {
  let block = -1
  let isInText = false
  const event = (name: string, fields: object) => {
    const named = { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' }
    return frame(named, JSON.stringify({ ...fields, p: 'abcdefgh' })) // enough padding to hide the length of a word
  }
  const delta = (fields: object) => event('contentBlockDelta', { contentBlockIndex: block, delta: fields })
  const stop = () => event('contentBlockStop', { contentBlockIndex: block })
  const endText = () => {
    const end = isInText ? [stop()] : []
    isInText = false
    return end
  }
  return {
    type: 'application/vnd.amazon.eventstream',
    begin: () => event('messageStart', { role: 'assistant' }),
    part(part) {
      if (typeof part === 'string') {
        if (!isInText) block++
        isInText = true
        return delta({ text: part })
      }
      const before = endText()
      block++
      if ('redacted' in part) {
        return Buffer.concat([
          ...before,
          delta({ reasoningContent: { redactedContent: part.redacted } }),
          stop(),
        ])
      }
      if ('thinking' in part) {
        const { thinking: text, signature } = part
        const signed = signature ? [delta({ reasoningContent: { signature } })] : []
        return Buffer.concat([...before, delta({ reasoningContent: { text } }), ...signed, stop()])
      }
      const { call: toolUseId, name, args } = part
      const half = Math.ceil(args.length / 2)
      return Buffer.concat([
        ...before,
        event('contentBlockStart', { contentBlockIndex: block, start: { toolUse: { toolUseId, name } } }),
        delta({ toolUse: { input: args.slice(0, half) } }),
        delta({ toolUse: { input: args.slice(half) } }),
        stop(),
      ])
    },
    finish: (reason, usage) =>
      Buffer.concat([
        ...endText(),
        event('messageStop', { stopReason: REASONS[reason] }),
        event('metadata', { metrics: { latencyMs: 1 }, ...(usage && { usage: converseUsage(usage) }) }),
      ]),
    error: ({ message }) => converseFault('exception', 'serviceUnavailableException', message),
  }
}

function frame(headers: Record<string, string>, body: string): Buffer<ArrayBuffer> {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString(),
    (text) => Buffer.from(text),
  )
  const texts = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }])
  return Buffer.from(codec.encode({ headers: Object.fromEntries(texts), body: Buffer.from(body) }))
}

/** AWS counts cached input separately from `inputTokens`, and thinking as output. */
function converseUsage({ input, output, cacheRead = 0, cacheWrite = 0 }: TokenCounts): object {
  return {
    inputTokens: input - cacheRead - cacheWrite,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
}

const REASONS: Record<Finish, string> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refused: 'guardrail_intervened',
}
