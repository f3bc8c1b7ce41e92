import { AsyncLocalStorage } from 'node:async_hooks'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../core/base/json.ts'
import { hideSecretsIn, REDACTED, redactText } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { wholeLength } from '../../core/process/utf8-cut.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { collectSecrets } from '../secrets/target-secrets.ts'
import type { CallingTurn, DeclarationOwner, FrameTap } from '../types.ts'
import { sameKind } from './link.ts'

/** The server whose messages are traced. */
export interface TracedPeer {
  fingerprint: string
  target: ServerTarget
  /** The current owners. */
  owners(): readonly DeclarationOwner[]
  /** Milliseconds since 1970. */
  now(): number
}

/** Runs a call so that every message of it is attributed to that caller. */
export function withCallingTurn<T>(caller: CallingTurn, call: () => Promise<T>): Promise<T> {
  return calling.run(caller, call)
}

/**
 * Returns a function that sends the tap the lines a server wrote to standard error; secrets are already
 * removed from them.
 */
export function tappedLines(
  tap: FrameTap,
  { fingerprint, owners, now }: Omit<TracedPeer, 'target'>,
): (read: () => string[]) => void {
  const rest = { outgoing: false, method: '', id: '', durationMs: undefined, isLog: true }
  return (read) => {
    if (!tap.hasListeners) return
    tap.publish({ ...rest, at: now(), fingerprint, owners: owners(), ...cut(read().join('\n')) })
  }
}

/** Wraps a transport so that the tap gets its messages. Messages are not examined without a listener. */
export function tracedTransport(inner: Transport, tap: FrameTap, traced: TracedPeer): Transport {
  const trace = new Trace(tap, traced)
  const outer: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        trace.follow(message, false)
        outer.onmessage?.(message, extra)
      }
      inner.onclose = () => outer.onclose?.()
      inner.onerror = (error) => outer.onerror?.(error)
      await inner.start()
    },
    send(message, options) {
      trace.follow(message, true)
      return inner.send(message, options)
    },
    close: () => inner.close(),
  }
  return sameKind(inner, outer)
}

class Trace {
  readonly #tap: FrameTap
  readonly #traced: TracedPeer
  /** The unanswered requests, by direction and id. */
  readonly #pending = new Map<string, PendingTrace>()
  #secrets: readonly string[] | undefined

  constructor(tap: FrameTap, traced: TracedPeer) {
    this.#tap = tap
    this.#traced = traced
  }

  follow(message: JSONRPCMessage, outgoing: boolean): void {
    if (this.#tap.hasListeners) this.#report(message, outgoing)
    else this.#pending.clear()
  }

  #report(message: JSONRPCMessage, outgoing: boolean): void {
    const { fingerprint, owners, now } = this.#traced
    const at = now()
    const method = 'method' in message ? message.method : ''
    const id = 'id' in message && message.id !== undefined ? String(message.id) : ''
    const request = method === '' ? this.#take(`${!outgoing} ${id}`) : undefined
    const params = 'method' in message && isObject(message.params) ? message.params : {}
    const caller = request ? request.caller : this.#findCaller({ method, params, outgoing })
    if (method !== '' && id !== '')
      this.#note(`${outgoing} ${id}`, { at, caller, token: getProgressToken(params) })
    const durationMs = request && Math.max(0, at - request.at)
    const content = cut(this.#show(message))
    this.#tap.publish({
      at,
      fingerprint,
      owners: owners(),
      outgoing,
      method,
      id,
      durationMs,
      caller,
      ...content,
    })
  }

  /**
   * Attributes incoming messages by what they refer to: they run in the async context that opened the
   * connection, not in the caller's.
   */
  #findCaller({ method, params, outgoing }: Named): CallingTurn | undefined {
    if (outgoing && CALLS.has(method)) return calling.getStore()
    if (outgoing && method === 'notifications/cancelled')
      return this.#pending.get(`true ${params['requestId']}`)?.caller
    const token = outgoing || method !== 'notifications/progress' ? undefined : params['progressToken']
    if (token === undefined) return undefined
    return this.#pending.values().find((request) => request.token === token)?.caller
  }

  #note(key: string, request: PendingTrace): void {
    const [oldest] = this.#pending.keys()
    if (oldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(oldest) // never answered
    this.#pending.set(key, request)
  }

  #take(key: string): PendingTrace | undefined {
    const request = this.#pending.get(key)
    this.#pending.delete(key)
    return request
  }

  /** Serializes a message without the server's secrets and without values that look like secrets. */
  #show(message: JSONRPCMessage): string {
    this.#secrets ??= collectSecrets(this.#traced.target)
    const secrets = this.#secrets
    const text = JSON.stringify(message, (key, value: unknown) => {
      if (typeof value !== 'string') return value
      return isSecretName(key) ? REDACTED : redactText(hideSecretsIn(value, secrets))
    })
    return hideSecretsIn(text, secrets) // key names, too
  }
}

/** A request that waits for its response. */
interface PendingTrace {
  at: number
  caller: CallingTurn | undefined
  /** The token of its progress notifications. */
  token: unknown
}

interface Named {
  method: string
  params: Record<string, unknown>
  outgoing: boolean
}

function getProgressToken({ _meta: meta }: Record<string, unknown>): unknown {
  return isObject(meta) ? meta['progressToken'] : undefined
}

function cut(text: string): { payload: string; isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_PAYLOAD_BYTES) return { payload: text, isCut: false }
  const head = bytes.subarray(0, MAX_PAYLOAD_BYTES)
  return { payload: head.subarray(0, wholeLength(head)).toString(), isCut: true }
}

/** The caller of the current async context. */
const calling = new AsyncLocalStorage<CallingTurn>()
/** The requests that are made for a turn. */
const CALLS: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get'])
const MAX_PAYLOAD_BYTES = 64 * 1024
const MAX_PENDING = 1_000
