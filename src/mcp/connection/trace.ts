import { AsyncLocalStorage } from 'node:async_hooks'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../core/base/json.ts'
import { hideSecretsIn, REDACTED, redactText } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { wholeLength } from '../../core/process/utf8-cut.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { collectSecrets } from '../secrets/target-secrets.ts'
import type { CallingTurn, DeclarationOwner, FrameTap } from '../types.ts'
import { sameKind } from './transport-kind.ts'

/** Whose messages they are. */
export interface TracedPeer {
  fingerprint: string
  target: ServerTarget
  /** At this moment. */
  owners(): readonly DeclarationOwner[]
  /** Milliseconds since 1970. */
  now(): number
}

/** Makes a call of which every message is known to be that caller's. */
export function withCallingTurn<T>(caller: CallingTurn, call: () => Promise<T>): Promise<T> {
  return calling.run(caller, call)
}

/** Tells the tap of lines that a server wrote to standard error, as it is given them: without secrets. */
export function tappedLines(
  tap: FrameTap,
  { fingerprint, owners, now }: Omit<TracedPeer, 'target'>,
): (read: () => string[]) => void {
  const rest = { outgoing: false, method: '', id: '', durationMs: undefined, isLog: true }
  return (read) => {
    if (!tap.hasListeners) return
    tap.tell({ ...rest, at: now(), fingerprint, owners: owners(), ...cut(read().join('\n')) })
  }
}

/** A transport whose messages the tap is told. While nobody listens, nothing but that is looked at. */
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
  /** What waits for an answer, by who asks and id. */
  readonly #asked = new Map<string, PendingTrace>()
  #secrets: readonly string[] | undefined

  constructor(tap: FrameTap, traced: TracedPeer) {
    this.#tap = tap
    this.#traced = traced
  }

  follow(message: JSONRPCMessage, outgoing: boolean): void {
    if (this.#tap.hasListeners) this.#tell(message, outgoing)
    else this.#asked.clear()
  }

  #tell(message: JSONRPCMessage, outgoing: boolean): void {
    const { fingerprint, owners, now } = this.#traced
    const at = now()
    const method = 'method' in message ? message.method : ''
    const id = 'id' in message && message.id !== undefined ? String(message.id) : ''
    const answered = method === '' ? this.#take(`${!outgoing} ${id}`) : undefined
    const params = 'method' in message && isObject(message.params) ? message.params : {}
    const caller = answered ? answered.caller : this.#findCaller({ method, params, outgoing })
    if (method !== '' && id !== '')
      this.#note(`${outgoing} ${id}`, { at, caller, token: getProgressToken(params) })
    const durationMs = answered && Math.max(0, at - answered.at)
    const shown = cut(this.#show(message))
    this.#tap.tell({ at, fingerprint, owners: owners(), outgoing, method, id, durationMs, caller, ...shown })
  }

  /** What arrives is told apart by what it names: it comes in the context of whoever opened the connection. */
  #findCaller({ method, params, outgoing }: Named): CallingTurn | undefined {
    if (outgoing && CALLS.has(method)) return calling.getStore()
    if (outgoing && method === 'notifications/cancelled')
      return this.#asked.get(`true ${params['requestId']}`)?.caller
    const token = outgoing || method !== 'notifications/progress' ? undefined : params['progressToken']
    if (token === undefined) return undefined
    return this.#asked.values().find((asked) => asked.token === token)?.caller
  }

  #note(key: string, asked: PendingTrace): void {
    const [oldest] = this.#asked.keys()
    if (oldest !== undefined && this.#asked.size >= MOST_ASKED) this.#asked.delete(oldest) // never answered
    this.#asked.set(key, asked)
  }

  #take(key: string): PendingTrace | undefined {
    const asked = this.#asked.get(key)
    this.#asked.delete(key)
    return asked
  }

  /** As JSON, without what was given to the server in secret, and what looks like a secret. */
  #show(message: JSONRPCMessage): string {
    this.#secrets ??= collectSecrets(this.#traced.target)
    const secrets = this.#secrets
    const text = JSON.stringify(message, (key, value: unknown) => {
      if (typeof value !== 'string') return value
      return isSecretName(key) ? REDACTED : redactText(hideSecretsIn(value, secrets))
    })
    return hideSecretsIn(text, secrets) // names of keys, too
  }
}

/** A request that waits for its answer. */
interface PendingTrace {
  at: number
  caller: CallingTurn | undefined
  /** Under which its progress is told. */
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

/** Whose call it is, through all that is awaited in it. */
const calling = new AsyncLocalStorage<CallingTurn>()
/** What is asked of a server for a turn. */
const CALLS: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get'])
const MAX_PAYLOAD_BYTES = 64 * 1024
const MOST_ASKED = 1_000
