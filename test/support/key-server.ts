import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createNetServer } from 'node:net'

/** The way in which a provider answers a first request. */
export type ProviderMood =
  /** Lists its models, and answers calls. */
  | 'good'
  /** Answers calls, and 404 for the list. */
  | 'no-list'
  /** Answers with a web page. */
  | 'web-page'
  /** Answers with bytes that are not JSON. */
  | 'garbage'
  /** Accepts connections and never answers. */
  | 'silent'
  /** Behaves like a proxy that wants a password. */
  | 'proxy-login'

export interface KeyServer extends AsyncDisposable {
  port: number
  /** `http://127.0.0.1:PORT/v1`. */
  url: string
  /** The method and path of each request, and the key that came with it. */
  requests: readonly { method: string; path: string; key: string }[]
  /** Accepts only this key from now on. */
  accept(key: string): void
}

/** Starts a model server that accepts one key, in the form of OpenAI, Anthropic or Google. */
export async function startKeyServer(
  key: string,
  {
    mood = 'good',
    models = ['small-1', 'large-1'],
    contexts = {},
  }: { mood?: ProviderMood; models?: readonly string[]; contexts?: Readonly<Record<string, number>> } = {},
): Promise<KeyServer> {
  let accepted = key
  const requests: { method: string; path: string; key: string }[] = []
  const server = createServer((incoming, outgoing) => {
    const sent = readKey(incoming)
    const { method = '', url: path = '' } = incoming
    requests.push({ method, path, key: sent })
    incoming.resume()
    if (mood === 'silent') return
    answer({ mood, models, contexts, isKnown: sent === accepted, path }, outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    accept(next) {
      accepted = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns a port of this machine on which nothing listens. */
export async function findDeadPort(): Promise<number> {
  const server = createNetServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function readKey({ headers }: IncomingMessage): string {
  const key =
    headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace('Bearer ', '')
  return typeof key === 'string' ? key : ''
}

interface Answer {
  mood: ProviderMood
  models: readonly string[]
  /** The context windows that the list reports. */
  contexts: Readonly<Record<string, number>>
  isKnown: boolean
  path: string
}

function answer({ mood, models, contexts, isKnown, path }: Answer, outgoing: ServerResponse): unknown {
  const json = (status: number, body: object) => {
    return outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  if (mood === 'web-page')
    return outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Hello</html>')
  if (mood === 'garbage') return outgoing.writeHead(200).end('\u0000\u0001 not a list')
  if (mood === 'proxy-login') return json(407, { message: 'Proxy Authentication Required' })
  if (!isKnown) return json(401, { error: { type: 'authentication_error', message: 'invalid x-api-key' } })
  if (/\/models/.test(path)) {
    return mood === 'no-list'
      ? json(404, { error: { message: 'not found' } })
      : json(200, { data: models.map((id) => ({ id, max_model_len: contexts[id] })) })
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  return outgoing.end(path.endsWith('/messages') ? MESSAGES : CHAT)
}

const CHAT = [
  '{"choices":[{"index":0,"delta":{"role":"assistant","content":"hello from the model"}}]}',
  '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('')

const MESSAGES = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'x',
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello from the model' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('')
