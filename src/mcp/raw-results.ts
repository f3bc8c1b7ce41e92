import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../core/base/json.ts'
import type { JsonObject } from '../core/base/message.ts'

/**
 * A transport that hides the results of `tools/list` and `tools/call` from the SDK's validation, which would throw a
 * whole list away for one tool, and a whole answer for one piece of content it does not know. rawResultOf() gives them.
 */
export function withRawResults(inner: Transport): Transport {
  const hidden = new Map<unknown, 'tools/list' | 'tools/call'>()
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
  // The SDK looks for these to tell a local program from an address.
  return 'stderr' in inner ? Object.assign(outer, { stderr: null, pid: null }) : outer
}

/** What the server answered, from what the SDK gives for it. */
export function rawResultOf(result: { _meta?: Record<string, unknown> | undefined }): unknown {
  return result._meta?.[RAW]
}

const RAW = 'crabtalk/raw'

/** The least the SDK takes as a result, in every revision. */
const EMPTY = {
  'tools/list': { tools: [], ttlMs: 0, cacheScope: 'private' },
  'tools/call': { content: [] },
}

/** Notes what is asked and given up; ids of ours are numbers. */
function follow(message: JSONRPCMessage, hidden: Map<unknown, 'tools/list' | 'tools/call'>): void {
  if (!('method' in message)) return
  const { method, params } = message
  if ('id' in message && (method === 'tools/list' || method === 'tools/call')) hidden.set(message.id, method)
  if (method === 'notifications/cancelled') hidden.delete(params?.['requestId'])
}

/** Some servers send an id back as text. A server that asks for more input is left to the SDK. */
function hide<T extends JSONRPCMessage>(message: T, hidden: Map<unknown, 'tools/list' | 'tools/call'>): T {
  if ('method' in message || !('id' in message)) return message
  const id = Number(message.id)
  const method = hidden.get(id)
  hidden.delete(id)
  if (method === undefined || !('result' in message)) return message
  const result: JsonObject = message.result
  if (!isObject(result) || result['resultType'] === 'input_required') return message
  return { ...message, result: { ...EMPTY[method], resultType: 'complete', _meta: { [RAW]: result } } }
}
