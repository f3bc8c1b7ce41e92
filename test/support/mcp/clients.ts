import { Client as NewClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { JsonObject } from '../../../src/core/base/message.ts'
import type { StdioEntry } from './mcp-servers.ts'

/** An official client, connected to a server under test. */
export interface ConnectedClient extends AsyncDisposable {
  server(): { name: string } | undefined
  tools(): Promise<string[]>
  call(name: string, args?: JsonObject, options?: CallOptions): Promise<JsonObject>
}

export interface CallOptions {
  signal?: AbortSignal
  onProgress?: (done: number) => void
}

/** The official clients by name: SDK 1.x, and SDK 2.x in both of its eras. */
export const CLIENTS: Readonly<Record<string, (entry: StdioEntry) => Promise<ConnectedClient>>> = {
  'SDK 1.x': connectOld,
  'SDK 2.x': (entry) => connectNew(entry, 'legacy'),
  'SDK 2.x, probing': (entry) => connectNew(entry, 'auto'),
}

/** Connects the SDK 2.x client; `auto` tries MCP 2026-07-28 first, a version requires it. */
export async function connectNew(
  entry: StdioEntry,
  mode: 'legacy' | 'auto' | { pin: string },
): Promise<ConnectedClient> {
  const client = new NewClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new NewTransport({ ...entry, stderr: 'ignore' }))
  return {
    server: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, requestOptions(options)),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function connectOld(entry: StdioEntry): Promise<ConnectedClient> {
  const client = new OldClient({ name: 'test', version: '1' })
  await client.connect(new OldTransport({ ...entry, stderr: 'ignore' }))
  return {
    server: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, undefined, requestOptions(options)),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function requestOptions({ signal, onProgress }: CallOptions) {
  return {
    ...(signal && { signal }),
    ...(onProgress && { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
  }
}
