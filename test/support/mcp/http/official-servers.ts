import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as NewServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type Listener, listen } from './listener.ts'

/** An MCP server built on an official SDK, in this process. */
export interface OfficialServer extends Listener {
  readonly url: string
  /** The HTTP requests as `METHOD PATH`, in order. */
  readonly requests: readonly string[]
  /** Adds a tool and notifies its clients. */
  addTool(name: string): void
  /** The calls of the tool `wait`, which ends when it is cancelled. */
  readonly waiting: readonly string[]
  /** The calls that were cancelled. */
  readonly cancelled: readonly string[]
}

/** Starts a server of MCP 2026-07-28, on the SDK 2.x; with `legacy` it also speaks the older revisions. */
export async function startModern(legacy: 'reject' | 'stateless' = 'reject'): Promise<OfficialServer> {
  const own = newRecordings()
  const handler = createMcpHandler(
    () => {
      const server = new NewServer({ name: 'modern', version: '1.0.0' })
      server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => said(text))
      server.registerTool('wait', { inputSchema: z.object({ name: z.string() }) }, ({ name }, { mcpReq }) =>
        own.wait(name, mcpReq.signal),
      )
      for (const name of own.tools) server.registerTool(name, {}, () => said(name))
      return server
    },
    { legacy },
  )
  const listener = await listen((request, response) => {
    own.note(request)
    void pass(request, response, handler.fetch)
  })
  return finish(listener, own, { path: '/mcp', onTool: () => handler.notify.toolsChanged() })
}

/** Starts a server of the revisions with a handshake and sessions over Streamable HTTP, on the SDK 1.x. */
export async function startStreamable(): Promise<OfficialServer> {
  const own = newRecordings()
  const sessions = new Map<string, { server: McpServer; transport: StreamableHTTPServerTransport }>()
  const begin = async () => {
    const server = oldServer(own)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await server.connect(transport as Parameters<McpServer['connect']>[0])
    return transport
  }
  const listener = await listen((request, response) => {
    own.note(request)
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (id !== undefined && !known) return void response.writeHead(404).end()
    void (async () => (known?.transport ?? (await begin())).handleRequest(request, response))()
  })
  const onTool = (name: string) => {
    for (const { server } of sessions.values()) server.registerTool(name, {}, () => said(name))
  }
  return finish(listener, own, { path: '/mcp', onTool })
}

/** Starts a server of 2024-11-05 over HTTP with server-sent events, on the SDK 1.x: its stream is at `/sse`. */
export async function startSse(): Promise<OfficialServer> {
  const own = newRecordings()
  const sessions = new Map<string, { server: McpServer; transport: SSEServerTransport }>()
  const listener = await listen((request, response) => {
    own.note(request)
    const { pathname, searchParams } = new URL(request.url!, 'http://h')
    const known = sessions.get(searchParams.get('sessionId') ?? '')
    if (request.method === 'POST' && pathname === '/message' && known) {
      return void known.transport.handlePostMessage(request, response)
    }
    if (request.method !== 'GET' || pathname !== '/sse') return void response.writeHead(404).end()
    const transport = new SSEServerTransport('/message', response)
    const server = oldServer(own)
    sessions.set(transport.sessionId, { server, transport })
    response.once('close', () => sessions.delete(transport.sessionId))
    void server.connect(transport)
  })
  const onTool = (name: string) => {
    for (const { server } of sessions.values()) server.registerTool(name, {}, () => said(name))
  }
  return finish(listener, own, { path: '/sse', onTool })
}

interface Recordings {
  requests: string[]
  waiting: string[]
  cancelled: string[]
  tools: string[]
  note(request: IncomingMessage): void
  wait(name: string, signal: AbortSignal): Promise<Said>
}

type Said = { content: { type: 'text'; text: string }[] }

function newRecordings(): Recordings {
  const own: Recordings = {
    requests: [],
    waiting: [],
    cancelled: [],
    tools: [],
    note: ({ method, url }) => void own.requests.push(`${method} ${url?.replace(/\?.*/, '')}`),
    wait(name, signal) {
      own.waiting.push(name)
      const { promise, resolve } = Promise.withResolvers<Said>()
      const onAbort = () => {
        own.cancelled.push(name)
        resolve(said('cancelled'))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      return promise
    },
  }
  return own
}

function oldServer(own: Recordings): McpServer {
  const server = new McpServer({ name: 'old', version: '1.0.0' })
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => said(text))
  server.registerTool('wait', { inputSchema: { name: z.string() } }, ({ name }, { signal }) =>
    own.wait(name, signal),
  )
  for (const name of own.tools) server.registerTool(name, {}, () => said(name))
  return server
}

function said(text: string): Said {
  return { content: [{ type: 'text', text }] }
}

interface Rest {
  path: string
  onTool(name: string): void
}

function finish(listener: Listener, own: Recordings, { path, onTool }: Rest): OfficialServer {
  return Object.assign(listener, {
    url: `${listener.origin}${path}`,
    requests: own.requests,
    waiting: own.waiting,
    cancelled: own.cancelled,
    addTool(name: string) {
      own.tools.push(name)
      onTool(name)
    },
  })
}

/** Converts a request from node:http to the Fetch API, and the response back. */
async function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const over = new AbortController()
  response.once('close', () => over.abort())
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
  const answer = await fetch(
    new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method!,
      headers: incoming.headers as Record<string, string>,
      signal: over.signal,
      ...(hasBody && { body: Readable.toWeb(incoming) as never, duplex: 'half' }),
    } as RequestInit),
  )
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders()
  if (answer.body)
    Readable.fromWeb(answer.body as ReadableStream)
      .on('error', () => {})
      .pipe(response)
  else response.end()
}
