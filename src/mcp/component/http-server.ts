import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { CrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import type { Health } from './types.ts'

/** The options of `openComponentHttp()`. */
export interface ComponentHttpOptions {
  health: Health
  /** The bearer token that `/mcp` requires. */
  key: string
  /** Answers an authorized request to `/mcp`. */
  answer(request: Request): Promise<Response>
  log: Log
}

/** An HTTP server on the loopback address. */
export interface ComponentHttpServer {
  readonly port: number
  /** Refuses new connections; requests under way continue. */
  stopAccepting(): void
  /** Resolves when no request is being answered. */
  idle(): Promise<void>
  /** Closes every connection and resolves when they are gone. */
  close(): Promise<void>
}

/**
 * Listens on a free port of 127.0.0.1: `/health` for every local client, `/mcp` for clients with the key.
 *
 * Web pages reach neither, not even through DNS rebinding: a foreign `Host` or `Origin` is refused first.
 */
export async function openComponentHttp(options: ComponentHttpOptions): Promise<ComponentHttpServer> {
  const answers = new Set<Promise<void>>()
  const server = createServer((request, response) => {
    const answering = answer(request, response, options)
      .catch((reason: unknown) => {
        options.log('debug', `a response was interrupted: ${(reason as Error).message}`)
        response.destroy()
      })
      .finally(() => answers.delete(answering))
    answers.add(answering)
  })
  await listen(server)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  let closed: Promise<void> | undefined
  const stopListening = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()))
  }
  return {
    port,
    stopAccepting: stopListening,
    async idle() {
      while (answers.size > 0) await Promise.all(answers)
    },
    async close() {
      stopListening()
      server.closeAllConnections()
      await closed
    },
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (reason) => {
      reject(
        new CrabError(
          'unavailable',
          `Cannot listen on 127.0.0.1: ${getErrorCode(reason) || reason.message}`,
          {
            cause: reason,
          },
        ),
      )
    })
    server.listen(0, '127.0.0.1', resolve)
  })
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ComponentHttpOptions,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const request = toRequest(incoming, gone.signal)
  const response = request
    ? await route(request, options)
    : toErrorResponse(400, 'This is not a valid request')
  if (!incoming.complete && !response.ok) outgoing.setHeader('connection', 'close') // the rest of the body is not read
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing)
  else await finished(outgoing.end())
}

/** Converts a request; undefined when Node accepts it but it is not a valid one. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, rawHeaders, url = '/' } = incoming
  try {
    const fetchHeaders = new Headers()
    for (let at = 0; at < rawHeaders.length; at += 2)
      fetchHeaders.append(rawHeaders[at]!, rawHeaders[at + 1]!)
    const address = new URL(url.replace(/^\/+/, '/'), `http://${headers.host ?? 'localhost'}`)
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const body = hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}
    return new Request(address, { method, headers: fetchHeaders, signal, ...body } as RequestInit)
  } catch {
    return undefined
  }
}

async function route(request: Request, options: ComponentHttpOptions): Promise<Response> {
  const foreign =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  if (foreign) return foreign
  const { pathname } = new URL(request.url)
  if (pathname === '/health') return answerHealth(request, options.health)
  if (pathname !== '/mcp') return toErrorResponse(404, 'Only /mcp and /health exist')
  if (!hasKey(request, options.key)) {
    const headers = { 'www-authenticate': 'Bearer' }
    return toErrorResponse(401, `The key is in run/${options.health.name}.key of the home`, headers)
  }
  return await options.answer(request)
}

function answerHealth({ method }: Request, health: Health): Response {
  if (method !== 'GET' && method !== 'HEAD') return toErrorResponse(405, 'Only GET', { allow: 'GET' })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  return new Response(method === 'GET' ? `${JSON.stringify(health)}\n` : null, { headers })
}

function hasKey(request: Request, key: string): boolean {
  const token = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(token), digest(key))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function toErrorResponse(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers })
}
