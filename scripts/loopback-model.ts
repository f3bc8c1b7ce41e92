import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A model server of both wire shapes on the loopback interface, for the build's warm-up and for benchmarks. */
export interface LoopbackModel extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1`. */
  url: string
  /** Bytes of the last request's body. */
  lastRequestBytes(): number
}

/** Starts a server that answers every question with these words, one event each, as fast as the client reads. */
export async function startLoopbackModel(words: readonly string[]): Promise<LoopbackModel> {
  let lastRequestBytes = 0
  const server = createServer(async (request, response) => {
    lastRequestBytes = (await buffer(request)).length
    answer(request, response, words)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    lastRequestBytes: () => lastRequestBytes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse, words: readonly string[]): void {
  if (url.endsWith('/models')) {
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'loopback', object: 'model' }] }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of url.endsWith('/messages') ? anthropicEvents(words) : openaiEvents(words)) {
    response.write(event)
  }
  response.end()
}

function* openaiEvents(words: readonly string[]): Generator<string> {
  const chunk = (delta: object, finish: string | null, rest: object = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    return `data: ${JSON.stringify({ id: 'c1', created: 0, model: 'loopback', choices, ...rest })}\n\n`
  }
  yield chunk({ role: 'assistant', content: '' }, null)
  for (const content of words) yield chunk({ content }, null)
  const usage = { prompt_tokens: 9, completion_tokens: words.length, total_tokens: 9 + words.length }
  yield chunk({}, 'stop', { usage })
  yield 'data: [DONE]\n\n'
}

function* anthropicEvents(words: readonly string[]): Generator<string> {
  const event = (type: string, rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
  const usage = { input_tokens: 9, output_tokens: 0 }
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'loopback', content: [], usage }
  yield event('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } })
  yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  for (const text of words) {
    yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  }
  yield event('content_block_stop', { index: 0 })
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  yield event('message_delta', { delta, usage: { output_tokens: words.length } })
  yield event('message_stop', {})
}
