import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { sameKind } from './link.ts'

/** The transport of one client, with the state of its probe for the newest revision. */
export interface Negotiation {
  readonly transport: Transport
  /** Whether the client started the handshake of older revisions while the probe was still unanswered. */
  readonly gaveUp: boolean
  /** Whether the probe was sent and is still unanswered. */
  readonly isOpen: boolean
}

/**
 * Watches the probe for the newest revision, which a server that is slow to start answers after the client
 * has given up.
 *
 * Closing the returned transport leaves `inner` open for another client that probes again; starting it takes
 * over the handlers of `inner`.
 */
export function watchNegotiation(inner: Transport): Negotiation {
  let open: unknown
  let gaveUp = false
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    transport.onclose?.()
  }
  const sendDiscover: Transport['send'] = async (message, options) => {
    open = 'id' in message ? message.id : undefined
    try {
      await inner.send(message, options)
    } catch (reason) {
      open = undefined // an HTTP error is an answer
      throw reason
    }
  }
  const transport: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        if (isAnswer(message, open)) open = undefined
        if (!isOver) transport.onmessage?.(message, extra)
      }
      inner.onclose = end
      inner.onerror = (error) => transport.onerror?.(error)
      await inner.start()
    },
    send(message, options) {
      if ('method' in message && 'id' in message) {
        if (message.method === 'server/discover') return sendDiscover(message, options)
        if (message.method === 'initialize') gaveUp = open !== undefined
      }
      return inner.send(message, options)
    },
    close: async () => end(),
  }
  return {
    transport: sameKind(inner, transport),
    get gaveUp() {
      return gaveUp
    },
    get isOpen() {
      return open !== undefined
    },
  }
}

function isAnswer(message: JSONRPCMessage, id: unknown): boolean {
  return !('method' in message) && id !== undefined && message.id === id
}
