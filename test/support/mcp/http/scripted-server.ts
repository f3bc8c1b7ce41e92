import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ServerOptions } from 'node:https'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '../../../../src/core/base/message.ts'
import { type Listener, listen } from './listener.ts'

/** One received request. */
export interface Arrival {
  /** The HTTP verb. */
  verb: string
  path: string
  /** The method of the message; the HTTP verb when there is no message. */
  method: string
  id: unknown
  params: JsonObject
  headers: IncomingHttpHeaders
  /** The number of earlier requests with this method. */
  before: number
}

/** Handles a request and returns true; otherwise the server answers it correctly. */
export type Play = (arrival: Arrival, response: ServerResponse) => boolean | Promise<boolean>

export interface Script {
  /** Whether it keeps sessions; by default it does. */
  sessions?: boolean
  /** Whether it speaks MCP 2026-07-28 and nothing older. */
  modern?: boolean
  tls?: ServerOptions
  play?: Play
}

/** A hand-written MCP server over Streamable HTTP that does what a script says. */
export interface ScriptedServer extends Listener {
  readonly url: string
  /** The received requests, in order. */
  readonly arrivals: readonly Arrival[]
  /** Returns the requests with this method. */
  of(method: string): Arrival[]
  /** Forgets all sessions. */
  forget(): void
}

/** Starts a server. By default it answers with JSON, has the tool `echo` with one text, and opens no stream. */
export async function scriptedServer(script: Script = {}): Promise<ScriptedServer> {
  const arrivals: Arrival[] = []
  const sessions = new Set<string>()
  const listener = await listen((request, response) => void serve(request, response), script.tls)
  const of = (method: string) => arrivals.filter((arrival) => arrival.method === method)

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrival = await toArrival(request, of)
    arrivals.push(arrival)
    if (await script.play?.(arrival, response)) return
    if (arrival.verb === 'GET') return end(response, 405)
    const session = String(arrival.headers['mcp-session-id'] ?? '')
    const keepsSessions = !script.modern && (script.sessions ?? true)
    if (keepsSessions && arrival.method !== 'initialize' && !sessions.has(session))
      return lostSession(arrival, response)
    if (arrival.verb === 'DELETE') return end(response, sessions.delete(session) ? 204 : 404)
    if (keepsSessions && arrival.method === 'initialize') {
      const made = randomUUID()
      sessions.add(made)
      response.setHeader('mcp-session-id', made)
    }
    if (arrival.id === undefined) return end(response, 202)
    sendJson(response, goodAnswer(arrival, script.modern ?? false))
  }
  return Object.assign(listener, {
    url: `${listener.origin}/mcp`,
    arrivals,
    of,
    forget: () => sessions.clear(),
  })
}

/** Returns the answer of a correct server. */
export function goodAnswer(
  { method, id, params }: Pick<Arrival, 'method' | 'id' | 'params'>,
  isModern = false,
): object {
  const result = goodResult(method, params, isModern)
  if (result === undefined)
    return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
  return { jsonrpc: '2.0', id, result: isModern ? { resultType: 'complete', ...result } : result }
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Begins a stream of events. */
export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }).flushHeaders()
}

/** Sends one event. */
export function sendEvent(response: ServerResponse, message: unknown, id?: string): void {
  response.write(
    `${id === undefined ? '' : `id: ${id}\n`}data: ${message === '' ? '' : JSON.stringify(message)}\n\n`,
  )
}

/** Ends an answer with only its status and headers. */
export function end(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end()
}

async function toArrival(request: IncomingMessage, of: ScriptedServer['of']): Promise<Arrival> {
  const { method: verb = '', url: path = '', headers } = request
  const body = await text(request)
  const { method = verb, id, params = {} } = body === '' ? {} : JSON.parse(body)
  return { verb, path, method, id, params, headers, before: of(method).length }
}

function lostSession({ id }: Arrival, response: ServerResponse): void {
  sendJson(
    response,
    { jsonrpc: '2.0', id: id ?? null, error: { code: -32001, message: 'Session not found' } },
    404,
  )
}

function goodResult(method: string, params: JsonObject, isModern: boolean): object | undefined {
  const cached = isModern ? { ttlMs: 0, cacheScope: 'private' } : {}
  switch (method) {
    case 'initialize':
      return isModern ? undefined : { protocolVersion: params['protocolVersion'], ...ABOUT, serverInfo: INFO }
    case 'server/discover':
      return isModern ? { supportedVersions: ['2026-07-28'], ...ABOUT, ...cached } : undefined
    case 'ping':
      return {}
    case 'tools/list':
      return { tools: [ECHO], ...cached }
    case 'tools/call':
      return { content: [{ type: 'text', text: String((params['arguments'] as JsonObject)?.['text']) }] }
    default:
      return undefined
  }
}

const INFO = { name: 'scripted', version: '1.0.0' }
const ABOUT = { capabilities: { tools: { listChanged: true } } }
const ECHO = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}
