import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallOptions, ConnectedClient } from '../mcp/clients.ts'

/** The URL and the token of a client's connection. */
export interface HttpPlace {
  url: URL
  key: string
}

/** The official HTTP clients by name: SDK 1.x, and SDK 2.x in both of its eras. */
export const HTTP_CLIENTS: Readonly<Record<string, (place: HttpPlace) => Promise<ConnectedClient>>> = {
  'SDK 1.x': connectOld,
  'SDK 2.x': (place) => connectNew(place, 'legacy'),
  'SDK 2.x, 2026-07-28': (place) => connectNew(place, { pin: '2026-07-28' }),
}

async function connectNew(place: HttpPlace, mode: 'legacy' | { pin: string }): Promise<ConnectedClient> {
  const client = new NewClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new NewTransport(place.url, bearing(place)))
  return {
    server: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, requestOptions(options)),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function connectOld(place: HttpPlace): Promise<ConnectedClient> {
  const client = new OldClient({ name: 'test', version: '1' })
  await client.connect(new OldTransport(place.url, bearing(place)) as Parameters<typeof client.connect>[0])
  return {
    server: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, undefined, requestOptions(options)),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function bearing({ key }: HttpPlace) {
  return { requestInit: { headers: { authorization: `Bearer ${key}` } } }
}

function requestOptions({ signal, onProgress }: CallOptions) {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
  }
}
