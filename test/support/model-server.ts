import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/core/base/message.ts'
import type { ErrorRecord, Finish, Part, TokenCounts } from './model-wire.ts'
import { writerFor } from './wire-writers.ts'

/** The server's behavior for one request. The defaults make an answer that ends normally. */
export interface Reply {
  /** The parts of the answer; each is pulled after the previous one has been sent. */
  parts?: Iterable<Part>
  /** Default: `tool-calls` when there are calls, else `stop`. */
  finish?: Finish
  usage?: TokenCounts
  /** The end of the stream: with its finish marker, without it, by a cut connection, or never. */
  end?: 'finish' | 'unfinished' | 'cut' | 'hang'
  /** Milliseconds between parts. */
  paceMs?: number
  /** An error record in the stream, after the parts. */
  error?: ErrorRecord
  /** Bytes in the stream, after the parts. */
  raw?: string | Uint8Array
  /** An HTTP answer instead of a stream. */
  status?: number
  headers?: Readonly<Record<string, string>>
  body?: string | object
  /** Whether to send nothing, not even headers. */
  silent?: boolean
}

/** A request as it arrived. */
export interface RecordedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
  /** The parsed body; empty when the request has none. */
  json: JsonObject
  /** Resolves when the answer is over: true if it was sent whole, false if the client went away first. */
  done: Promise<boolean>
}

export interface ModelServer extends AsyncDisposable {
  port: number
  /** `http://127.0.0.1:PORT/v1`, for all shapes. */
  url: string
  /** Calls of a model, in order of arrival. */
  requests: readonly RecordedRequest[]
  /** The requests to /models. */
  questions: readonly RecordedRequest[]
  /** Connections accepted so far. */
  connections(): number
}

/** Replies in order, or a function of the request and its number, from 0. A list that is used up answers 500. */
export type Script = readonly Reply[] | ((request: RecordedRequest, index: number) => Reply)

/**
 * Starts a model server on a free port that speaks every provider's protocol, by path: chat completions,
 * Responses, Anthropic messages, Gemini, Bedrock's Converse. `GET …/models` is answered with `models`, below
 * /v1beta in Google's format.
 */
export async function startModelServer(
  script: Script,
  { models = ['scripted'], port = 0 }: { models?: readonly string[]; port?: number } = {},
): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const questions: RecordedRequest[] = []
  let connections = 0
  const server = createServer(async (incoming, outgoing) => {
    const request = await record(incoming, outgoing)
    if (/\/models(\?|$)/.test(request.path)) {
      questions.push(request)
      outgoing.setHeader('content-type', 'application/json')
      outgoing.end(JSON.stringify(request.path.startsWith('/v1beta') ? geminiList(models) : idList(models)))
      return
    }
    const index = requests.push(request) - 1
    const reply = typeof script === 'function' ? script(request, index) : (script[index] ?? USED_UP)
    await play(reply, request, outgoing)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}/v1`,
    requests,
    questions,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function idList(models: readonly string[]): object {
  return { object: 'list', data: models.map((id) => ({ id, object: 'model' })) }
}

function geminiList(models: readonly string[]): object {
  return {
    models: models.map((name) => ({
      name: `models/${name}`,
      supportedGenerationMethods: name === 'aqa' ? ['generateAnswer'] : ['generateContent', 'countTokens'],
    })),
  }
}

async function record(incoming: IncomingMessage, outgoing: ServerResponse): Promise<RecordedRequest> {
  const { method = '', url: path = '', headers } = incoming
  const done = new Promise<boolean>((resolve) =>
    outgoing.once('close', () => resolve(outgoing.writableFinished)),
  )
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return { method, path, headers, text, json: text === '' ? {} : JSON.parse(text), done }
}

async function play(reply: Reply, request: RecordedRequest, outgoing: ServerResponse): Promise<void> {
  const { status, headers = {}, body = '', silent = false } = reply
  if (silent) return
  if (status !== undefined) {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    outgoing.writeHead(status, { 'content-type': type, ...headers })
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
    return
  }
  await stream(reply, request, outgoing)
}

async function stream(reply: Reply, request: RecordedRequest, outgoing: ServerResponse): Promise<void> {
  const { parts = [], usage, end = 'finish', paceMs = 0, error, raw = '', headers } = reply
  const writer = writerFor(request.path, String(request.json['model'] ?? 'scripted'))
  outgoing.writeHead(200, { 'content-type': writer.type ?? 'text/event-stream', ...headers })
  outgoing.write(writer.begin(usage))
  let hasCalls = false
  for (const part of parts) {
    if (part instanceof Promise) {
      await part
      continue
    }
    if (paceMs > 0) await sleep(paceMs)
    hasCalls ||= typeof part === 'object' && 'call' in part
    outgoing.write(writer.part(part))
  }
  if (error) outgoing.write(writer.error(error))
  await new Promise((resolve) => outgoing.write(raw, resolve)) // flush before the connection is cut
  if (end === 'hang') return
  if (end === 'cut') return void outgoing.socket?.destroy()
  if (end === 'finish')
    outgoing.write(writer.finish(reply.finish ?? (hasCalls ? 'tool-calls' : 'stop'), usage))
  outgoing.end()
}

/** Is retried without waits, so that a test that asks too often fails soon. */
const USED_UP: Reply = {
  status: 500,
  headers: { 'retry-after-ms': '0' },
  body: { error: { message: 'the script is over' } },
}
