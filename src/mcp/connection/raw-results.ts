import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sameKind } from './link.ts'

/**
 * Wraps a transport to hide the results of lists, calls and reads from the SDK's validation, which would
 * reject a whole list for one tool, and a whole result for one unknown kind of content. getRawResult()
 * returns them, including those that ask for more input (MCP 2026-07-28).
 */
export function withRawResults(inner: Transport): Transport {
  const hidden: Hidden = new Map()
  const outer: Transport = {
    async start() {
      inner.onmessage = (message, extra) => outer.onmessage?.(hide(message, hidden), extra)
      inner.onclose = () => outer.onclose?.()
      inner.onerror = (error) => outer.onerror?.(error)
      await inner.start()
    },
    send(message, options) {
      follow(message, hidden)
      return inner.send(message, options)
    },
    close: () => inner.close(),
  }
  return sameKind(inner, outer)
}

/** Returns the server's original result from the placeholder that the SDK returns. */
export function getRawResult(result: { _meta?: Record<string, unknown> | undefined }): unknown {
  return result._meta?.[RAW]
}

const RAW = 'crabtalk/raw'

/** The methods of pending requests by id; our ids are numbers. */
type Hidden = Map<unknown, keyof typeof EMPTY>

const UNCACHED = { ttlMs: 0, cacheScope: 'private' }

/** The smallest results the SDK accepts, in every revision. */
const EMPTY = {
  'tools/list': { tools: [], ...UNCACHED },
  'tools/call': { content: [] },
  'resources/list': { resources: [], ...UNCACHED },
  'resources/templates/list': { resourceTemplates: [], ...UNCACHED },
  'resources/read': { contents: [], ...UNCACHED },
  'prompts/list': { prompts: [], ...UNCACHED },
  'prompts/get': { messages: [] },
}

/** Records requests, and forgets those that are cancelled. */
function follow(message: JSONRPCMessage, hidden: Hidden): void {
  if (!('method' in message)) return
  const { method, params } = message
  if ('id' in message && isHidden(method)) hidden.set(message.id, method)
  if (method === 'notifications/cancelled') hidden.delete(params?.['requestId'])
}

function isHidden(method: string): method is keyof typeof EMPTY {
  return Object.hasOwn(EMPTY, method)
}

/** Replaces a result with its placeholder. Some servers return the id as a string. */
function hide<T extends JSONRPCMessage>(message: T, hidden: Hidden): T {
  if ('method' in message || !('id' in message)) return message
  const id = Number(message.id)
  const method = hidden.get(id)
  hidden.delete(id)
  if (method === undefined || !('result' in message)) return message
  const result: JsonObject = message.result
  if (!isObject(result)) return message
  return { ...message, result: { ...EMPTY[method], resultType: 'complete', _meta: { [RAW]: result } } }
}
