import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** A client that can call `echo` of a server. Disposing ends what it started. */
export interface Caller extends AsyncDisposable {
  name: string
  /** Resolves with the answer. */
  echo(): Promise<unknown>
}

const SERVERS = join(import.meta.dirname, '../test/support/mcp')

/**
 * Returns the command line of the small server that loads no library; another `word` makes it a different
 * server.
 */
export function plainServer(word = 'bench'): [string, ...string[]] {
  return [process.execPath, join(SERVERS, 'plain-server.ts'), `--mark=${word}`]
}

/** Starts the same server over HTTP. */
export async function startHttp(): Promise<AsyncDisposable & { url: string }> {
  const child = spawn(process.execPath, [join(SERVERS, 'plain-http-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = await once(child.stdout, 'data')
  const ended = once(child, 'exit')
  return {
    url: `http://127.0.0.1:${Number(port)}/mcp`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Calls a server over stdio with plain JSON lines, without a library. */
export async function rawStdio(name: string): Promise<Caller> {
  const [command, ...args] = plainServer('raw')
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (value: unknown) => void>()
  createInterface(child.stdout).on('line', (line) => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  const ask = (method: string, params: object) => {
    const id = ++last
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  await ask('initialize', HELLO)
  return {
    name,
    echo: () => ask('tools/call', ECHO),
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** Calls a server over HTTP keep-alive connections, without a library. */
export async function rawHttp(name: string, url: string): Promise<Caller> {
  const agent = new Agent({ keepAlive: true })
  let session = ''
  const ask = async (method: string, params: object): Promise<unknown> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }),
    }
    const asking = httpRequest(url, { method: 'POST', agent, headers })
    asking.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const [response] = await once(asking, 'response')
    session ||= String(response.headers['mcp-session-id'])
    return JSON.parse(await text(response)).result
  }
  await ask('initialize', HELLO)
  return { name, echo: () => ask('tools/call', ECHO), [Symbol.asyncDispose]: async () => agent.destroy() }
}

/** Calls a server with the SDK's client and the SDK's own transports. */
export async function bareSdk(name: string, url?: string): Promise<Caller> {
  const [command, ...args] = plainServer('sdk')
  const transport: Transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, stderr: 'ignore' })
  const client = new Client({ name: 'bare', version: '1' })
  await client.connect(transport)
  return { name, echo: () => client.callTool(ECHO), [Symbol.asyncDispose]: () => client.close() }
}

/** The call that every caller makes. */
export const ECHO = { name: 'echo', arguments: { text: 'hello' } }
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
