import type { JsonObject } from '../../../src/core/base/message.ts'

/** The id of a JSON-RPC request. */
export type Id = string | number

/** A received JSON-RPC message: request, notification or answer. */
export interface Message {
  jsonrpc: '2.0'
  id?: Id | null
  method?: string
  params?: JsonObject
  result?: JsonObject
  error?: { code: number; message: string; data?: unknown }
}

/**
 * The two directions through a part of the server: client messages go to `receive`, server messages to
 * `send`.
 */
export interface Link {
  receive(message: Message): void | Promise<void>
  send(message: Message): void | Promise<void>
}

/**
 * A layer between the wire and the server. It receives its exits, `send` towards the client and `receive`
 * towards the server, and returns its entries; an omitted entry lets messages through.
 */
export type Layer = (out: Link) => Partial<Link>

/** Joins layers between the two ends, the one next to the wire first; returns the entries at both ends. */
export function connectLayers(layers: readonly Layer[], ends: Link): Link {
  const built: Partial<Link>[] = []
  const sendFrom = (index: number): Link['send'] => {
    if (index < 0) return ends.send
    return (message) => (built[index]!.send ?? sendFrom(index - 1))(message)
  }
  const receiveFrom = (index: number): Link['receive'] => {
    if (index >= layers.length) return ends.receive
    return (message) => (built[index]!.receive ?? receiveFrom(index + 1))(message)
  }
  for (const [index, layer] of layers.entries())
    built.push(layer({ send: sendFrom(index - 1), receive: receiveFrom(index + 1) }))
  return { send: sendFrom(layers.length - 1), receive: receiveFrom(0) }
}

/** True for a message that requires an answer. */
export function isRequest(message: Message): message is Message & { id: Id; method: string } {
  return message.method !== undefined && message.id !== undefined && message.id !== null
}

/** True for a result or an error. */
export function isAnswer(message: Message): boolean {
  return message.method === undefined && (message.result !== undefined || message.error !== undefined)
}

/** Builds a successful answer. */
export function toAnswer(id: Id | null, result: JsonObject): Message {
  return { jsonrpc: '2.0', id, result }
}

/** Builds an error answer. */
export function toErrorAnswer(id: Id | null, code: number, message: string, data?: unknown): Message {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

/** Returns the object at a key, or an empty one. */
export function objectAt(value: JsonObject | undefined, key: string): JsonObject {
  const found = value?.[key]
  return typeof found === 'object' && found !== null ? (found as JsonObject) : {}
}
