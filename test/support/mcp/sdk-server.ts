import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
} from '@modelcontextprotocol/sdk/types.js'
import type { Identity } from './era.ts'
import { type Id, isRequest, type Layer, type Link, type Message, toAnswer } from './message.ts'
import type { ToolList } from './tool-list.ts'

/**
 * Starts the official SDK 1.x server with a list of tools: handshake, ping, lists, calls, progress,
 * cancellation. Returns the entry for messages; its own go to `send`.
 */
export async function startSdkServer(
  identity: Identity,
  list: ToolList,
  send: Link['send'],
): Promise<Link['receive']> {
  const { name, capabilities, instructions } = identity
  const server = new Server({ name, version: '1.0.0' }, { capabilities, instructions })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = list.page(params?.cursor)
    if (page === undefined) throw new McpError(ErrorCode.InvalidParams, `No page ${params?.cursor}`)
    return page
  })
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification }) => {
    const tool = list.find(params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `No tool ${params.name}`)
    const token = params._meta?.progressToken
    const progress = async (done: number, total: number) => {
      if (token === undefined) return
      await sendNotification(progressNotification({ progressToken: token, progress: done, total }))
    }
    return tool.run({ args: params.arguments ?? {}, params, signal, progress })
  })
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => send(message as Message),
  }
  await server.connect(transport)
  return (message) => transport.onmessage?.(message as JSONRPCMessage)
}

/** Answers calls of raw tools, which the SDK would reject. */
export function rawCallsLayer(list: ToolList): Layer {
  return ({ send, receive }) => ({
    async receive(message) {
      const { method, params = {} } = message
      const tool = method === 'tools/call' && isRequest(message) ? list.find(params['name']) : undefined
      if (tool?.isRaw !== true) return receive(message)
      const args = (params['arguments'] ?? {}) as Message['params'] & object
      const result = await tool.run({ args, params, signal: NEVER, progress: async () => {} })
      await send(toAnswer(message.id as Id, result))
    },
  })
}

function progressNotification(params: {
  progressToken: Id
  progress: number
  total: number
}): ServerNotification {
  return {
    method: 'notifications/progress',
    params: { ...params, message: `${params.progress} of ${params.total}` },
  }
}

const NEVER = new AbortController().signal
