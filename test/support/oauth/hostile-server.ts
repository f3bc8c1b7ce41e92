import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../mcp/http/listener.ts'

/** One answer of a hostile server: JSON, or a function that answers by itself. */
export type HostileAnswer = object | ((request: HostileRequest, response: ServerResponse) => void)

/** A request that a hostile server received. */
export interface HostileRequest {
  path: string
  body: string
}

/** An MCP server with an authorization server at the same origin, which answer as a test wants. */
export interface HostileServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  /** The paths of the requests, in order. */
  readonly paths: string[]
  /** Every word that was sent to it and must not be repeated: codes, verifiers. */
  readonly secrets: string[]
  /** A server that must not get any request. */
  readonly forbidden: { readonly origin: string; readonly paths: string[] }
}

/** Starts it; `answers` replaces what a correct server answers, by path. */
export async function hostileServer(
  answers: (server: HostileServer) => Readonly<Record<string, HostileAnswer>>,
): Promise<HostileServer> {
  const refusedPaths: string[] = []
  const other = await listen((request, response) => {
    refusedPaths.push(request.url ?? '')
    response.end('{}')
  })
  const listener = await listen((request, response) => void serve(request, response))
  const { origin } = listener
  const server: HostileServer = {
    origin,
    url: `${origin}/mcp`,
    paths: [],
    secrets: [],
    forbidden: { origin: other.origin, paths: refusedPaths },
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    },
  }
  const all: Readonly<Record<string, HostileAnswer>> = { ...correctAnswers(server), ...answers(server) }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*/, '') ?? ''
    const body = await text(request)
    server.paths.push(path)
    const form = new URLSearchParams(body)
    for (const name of ['code', 'code_verifier']) server.secrets.push(...form.getAll(name))
    const answer = all[path]
    if (typeof answer === 'function') return answer({ path, body }, response)
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  }
  return server
}

/** Redirects, which a browser would follow. */
export function redirectTo(location: string, status = 302): HostileAnswer {
  return (_, response) => response.writeHead(status, { location }).end()
}

/** Answers with an error as JSON. */
export function refuseWith(status: number, value: object | string): HostileAnswer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  }
}

export const RESOURCE = '/.well-known/oauth-protected-resource/mcp'
export const METADATA = '/.well-known/oauth-authorization-server'

function correctAnswers(server: HostileServer): Record<string, HostileAnswer> {
  return {
    '/mcp': (_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
    [RESOURCE]: { resource: server.url, authorization_servers: [server.origin] },
    [METADATA]: correctMetadata(server),
    '/register': { client_id: 'crab', redirect_uris: ['http://127.0.0.1/callback'] },
    '/token': {
      access_token: 'planted-access-token',
      token_type: 'Bearer',
      refresh_token: 'planted-refresh-token',
    },
  }
}

/** Returns the metadata of a correct authorization server. */
export function correctMetadata({ origin }: Pick<HostileServer, 'origin'>) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}
