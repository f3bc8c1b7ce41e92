import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from './message.ts'

/**
 * Returns the answer of a small server with the tools echo, sleep, pid and env; undefined for a notification.
 */
export async function plainAnswer({ id, method = '', params = {} }: Message): Promise<object | undefined> {
  if (id === undefined || id === null) return undefined
  const result = await callTool(method, params)
  if (result !== undefined) return { jsonrpc: '2.0', id, result }
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } }
}

async function callTool(method: string, params: NonNullable<Message['params']>): Promise<object | undefined> {
  if (method === 'ping') return {}
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'initialize') {
    const { protocolVersion } = params
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'plain', version: '1.0.0' } }
  }
  if (method !== 'tools/call') return undefined
  const args = (params['arguments'] ?? {}) as Record<string, unknown>
  return { content: [{ type: 'text', text: await call(String(params['name']), args) }] }
}

async function call(name: string, args: Record<string, unknown>): Promise<string> {
  if (name === 'pid') return String(process.pid)
  if (name === 'env') return process.env[String(args['name'])] ?? ''
  if (name === 'sleep') await sleep(Number(args['ms']))
  return name === 'echo' ? String(args['text']) : 'slept'
}

const TOOLS = Object.entries({
  echo: { text: 'string' },
  sleep: { ms: 'number' },
  pid: {},
  env: { name: 'string' },
}).map(([name, fields]) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }])),
    required: Object.keys(fields),
  },
}))
