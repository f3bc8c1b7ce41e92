/**
 * A part of a scripted answer: text, a block of thinking, a tool call, or a wait until a promise is settled.
 */
export type Part =
  | string
  | { thinking: string; signature?: string }
  | { redacted: string }
  | { call: string; name: string; args: string; signature?: string }
  | Promise<unknown>

export interface TokenCounts {
  input: number
  output: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
}

export type Finish = 'stop' | 'tool-calls' | 'length' | 'refused'

/** The content of an error record in a stream. */
export interface ErrorRecord {
  message: string
  type?: string
  code?: number
}

/** Writes one answer in a provider's format. */
export interface WireWriter {
  /** The content type of the answer; `text/event-stream` by default. */
  type?: string
  begin(usage: TokenCounts | undefined): string | Uint8Array
  part(part: Exclude<Part, Promise<unknown>>): string | Uint8Array
  finish(reason: Finish, usage: TokenCounts | undefined): string | Uint8Array
  error(record: ErrorRecord): string | Uint8Array
}

/** Writes chat completion chunks, as `POST /v1/chat/completions` with `stream: true` answers. */
export function chatCompletionWriter(model: string): WireWriter {
  let calls = 0
  const chunk = (choices: unknown[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`
  const delta = (fields: object) => chunk([{ index: 0, delta: fields, finish_reason: null }])
  const call = (fields: object, signature: string | undefined) =>
    delta({
      tool_calls: [
        {
          index: calls,
          ...fields,
          ...(signature && { extra_content: { google: { thought_signature: signature } } }),
        },
      ],
    })
  return {
    begin: () => delta({ role: 'assistant', content: '' }),
    part(part) {
      if (typeof part === 'string') return delta({ content: part })
      if ('thinking' in part) return delta({ reasoning_content: part.thinking })
      if ('redacted' in part) return ''
      const { call: id, name, args, signature } = part
      const half = Math.ceil(args.length / 2)
      const text =
        call({ id, type: 'function', function: { name, arguments: args.slice(0, half) } }, signature) +
        call({ function: { arguments: args.slice(half) } }, undefined)
      calls++
      return text
    },
    finish(reason, usage) {
      const end = chunk([{ index: 0, delta: {}, finish_reason: CHAT_REASONS[reason] }])
      return `${end}${usage ? chunk([], { usage: chatUsage(usage) }) : ''}data: [DONE]\n\n`
    },
    error: (error) => `data: ${JSON.stringify({ error })}\n\n`,
  }
}

/** Writes message events, as `POST /v1/messages` with `stream: true` answers. */
export function messageWriter(model: string): WireWriter {
  let index = -1
  let isInText = false
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const start = (block: object) => event('content_block_start', { index: ++index, content_block: block })
  const delta = (fields: object) => event('content_block_delta', { index, delta: fields })
  const stop = () => event('content_block_stop', { index })
  const endText = () => {
    const text = isInText ? stop() : ''
    isInText = false
    return text
  }
  return {
    begin: (usage) => event('message_start', { message: messageStart(model, usage) }) + event('ping', {}),
    part(part) {
      if (typeof part === 'string') {
        const opened = isInText ? '' : start({ type: 'text', text: '' })
        isInText = true
        return opened + delta({ type: 'text_delta', text: part })
      }
      if ('redacted' in part) {
        return endText() + start({ type: 'redacted_thinking', data: part.redacted }) + stop()
      }
      if ('thinking' in part) {
        const { thinking, signature = '' } = part
        return [
          endText() + start({ type: 'thinking', thinking: '', signature: '' }),
          delta({ type: 'thinking_delta', thinking }),
          delta({ type: 'signature_delta', signature }) + stop(),
        ].join('')
      }
      const { call: id, name, args } = part
      const half = Math.ceil(args.length / 2)
      return [
        endText() + start({ type: 'tool_use', id, name, input: {} }),
        delta({ type: 'input_json_delta', partial_json: args.slice(0, half) }),
        delta({ type: 'input_json_delta', partial_json: args.slice(half) }) + stop(),
      ].join('')
    },
    finish(reason, usage) {
      const stopped = { stop_reason: MESSAGE_REASONS[reason], stop_sequence: null }
      const counts = { output_tokens: usage?.output ?? 0 }
      return endText() + event('message_delta', { delta: stopped, usage: counts }) + event('message_stop', {})
    },
    error: (error) => event('error', { error }),
  }
}

function chatUsage({ input, output, cacheRead = 0, reasoning = 0 }: TokenCounts): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Anthropic counts cached input separately from `input_tokens`. */
function messageStart(model: string, usage: TokenCounts | undefined): object {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = usage ?? {}
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: input - cacheRead - cacheWrite,
      output_tokens: 0,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    },
  }
}

const CHAT_REASONS: Record<Finish, string> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refused: 'content_filter',
}
const MESSAGE_REASONS: Record<Finish, string> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refused: 'refusal',
}
