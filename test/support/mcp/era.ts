import type { JsonObject } from '../../../src/core/base/message.ts'
import {
  type Id,
  isAnswer,
  isRequest,
  type Layer,
  type Message,
  objectAt,
  toAnswer,
  toErrorAnswer,
} from './message.ts'
import type { ServerOptions } from './options.ts'

/** The revision without a handshake. */
export const MODERN_VERSION = '2026-07-28'

const META = 'io.modelcontextprotocol/'
const UNSUPPORTED_VERSION = -32022
const LIST_CHANGED = 'notifications/tools/list_changed'

/** The answer to `server/discover`. */
export interface Identity {
  name: string
  capabilities: JsonObject
  instructions: string
}

/** True for a request in the revision without a handshake: it carries its protocol version. */
export function isModern(message: Message): boolean {
  return objectAt(message.params, '_meta')[`${META}protocolVersion`] === MODERN_VERSION
}

/**
 * Makes an SDK 1.x server speak MCP 2026-07-28: `server/discover`, results with their type, subscriptions to
 * list changes. `both` passes older requests on, `modern` rejects them.
 */
export function eraLayer({ era = 'legacy' }: ServerOptions, identity: Identity): Layer {
  if (era === 'legacy') return () => ({})
  const modern = new Map<Id, string>() // the method of each modern request that is not answered yet
  const listeners = new Set<Id>()
  return ({ send, receive }) => ({
    receive(message) {
      const { method } = message
      if (method === 'notifications/cancelled') listeners.delete(message.params!['requestId'] as Id)
      if (!isRequest(message)) return receive(message)
      if (!isModern(message)) return era === 'both' ? receive(message) : send(refusalOfOld(message))
      if (method === 'server/discover') return send(toAnswer(message.id, discovery(identity)))
      if (method === 'subscriptions/listen') {
        listeners.add(message.id)
        return send(acknowledgement(message.id, objectAt(message.params, 'notifications')))
      }
      modern.set(message.id, message.method)
      return receive(message)
    },
    async send(message) {
      if (message.method === LIST_CHANGED && (era === 'modern' || listeners.size > 0)) {
        for (const id of listeners) await send(stampedFor(message, id))
        return
      }
      const method = isAnswer(message) ? modern.get(message.id!) : undefined
      if (method === undefined || message.result === undefined) return send(message)
      modern.delete(message.id!)
      return send({ ...message, result: complete(method, message.result) })
    },
  })
}

function refusalOfOld(message: Message & { id: Id }): Message {
  const requested = message.params?.['protocolVersion'] ?? null
  const data = { supported: [MODERN_VERSION], requested }
  return toErrorAnswer(message.id, UNSUPPORTED_VERSION, 'Unsupported protocol version', data)
}

function discovery({ name, capabilities, instructions }: Identity): JsonObject {
  return {
    ...FRESH,
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION],
    capabilities,
    instructions,
    _meta: { [`${META}serverInfo`]: { name, version: '1.0.0' } },
  }
}

function acknowledgement(id: Id, notifications: JsonObject): Message {
  return {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [`${META}subscriptionId`]: id }, notifications },
  }
}

function stampedFor(message: Message, id: Id): Message {
  return { ...message, params: { ...message.params, _meta: { [`${META}subscriptionId`]: id } } }
}

function complete(method: string, result: JsonObject): JsonObject {
  return { resultType: 'complete', ...(method.endsWith('/list') ? FRESH : {}), ...result }
}

/** The client must not cache the result. */
const FRESH = { ttlMs: 0, cacheScope: 'private' }
